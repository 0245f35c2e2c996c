from common import *

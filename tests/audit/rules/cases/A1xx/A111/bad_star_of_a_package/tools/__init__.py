from .models import *
from .setup import *

"""200 forms in which a secret is written: by the language of the text they stand in, one a line.

Marks: `{pw}` a password that a person made up, `{word}` one of small letters alone, `{digits}` eight digits, `{hex32}`, `{hex40}`,
`{hex64}`, `{mixed16}` ... letters and digits that look random, `{base40}` also `+` and `/`, `{uuid}`, `{pem}` a key's body,
`{jwt}`; `⏎` is the end of a line. A secret of several marks is planted as several.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string
import uuid
from collections.abc import Iterator
from typing import NamedTuple

PROSE = """\
the password is {pw}
password is {word}
Password: {pw}
API key {mixed32}
your API key is {hex32}
using token {mixed24} for user bob
logged in as bob with password {pw}
login failed for user 'bob' using password '{pw}'
secret key = {base40}
AWS secret access key: {base40}
the default pin is {digits}
PIN: {digits}
passphrase "{word}"
credentials: bob / {pw}
credentials bob:{pw}
authentication token -> {mixed40}
token: {uuid}
client secret {mixed32}
wandb: API key {hex40}
private key passphrase: {word}
username bob password {pw}
user=bob pass={pw} host=db1
connected as bob, pwd {pw}
Using bearer {mixed40}
[I 2026-01-02] or copy this URL: http://127.0.0.1:8888/lab?token={hex40}
WARNING: password '{pw}' is too short
INFO root: auth=bob:{pw} timeout=30
2026-01-02 03:04:05 DEBUG storage access_key={mixed20} secret_key={base40}
Temporary password for root@localhost: {pw}
sent header x-api-key: {mixed32}
"""

ARGV = """\
train.py --password {pw}
train.py --password={pw}
train.py --api-key {mixed32}
train.py --hf_token={mixed32}
train.py --db-pass {word}
train.py trainer.logger.api_key={hex40}
train.py +secrets.token={mixed24}
curl -u bob:{pw} https://example.org/data
curl --user bob:{pw} https://example.org/data
curl -ubob:{pw} https://example.org/data
curl -H 'Authorization: token {mixed40}' https://example.org/data
curl -H 'X-Api-Key: {mixed32}' https://example.org/data
wget --user=bob --password={pw} https://example.org/data
wget --http-passwd {pw} https://example.org/data
mysql -u bob -p{pw} runs
sshpass -p {pw} ssh node1
docker login -u bob -p {pw} registry.example.org
docker run -e HF_TOKEN={mixed32} image
redis-cli -a {pw} ping
huggingface-cli login --token {mixed32}
wandb login {hex40}
aws configure set aws_secret_access_key {base40}
git clone https://oauth2:{mixed20}@gitlab.example.org/a/b.git
openssl enc -aes-256-cbc -pass pass:{pw} -in a
train.py --config {{"api_key":"{mixed24}"}}
train.py --creds bob,{pw}
"""

SHELL = """\
export HF_TOKEN={mixed32}
export MY_PW={pw}
export DB_PASSWD="{pw}"
MY_PW='{pw}' python train.py
WANDB_API_KEY={hex40} python train.py
env API_TOKEN={mixed24} python train.py
echo {pw} | docker login --password-stdin -u bob
echo "{pw}" | docker login -u bob --password-stdin registry.example.org
printf '%s' {pw} | helm registry login --password-stdin
docker login --password-stdin <<< {pw}
docker login --password-stdin <<< "{pw}"
cat <<EOF > ~/.netrc⏎machine api.example.org⏎  login bob⏎  password {pw}⏎EOF
cat > ~/.pgpass <<EOF⏎db.example.org:5432:runs:bob:{pw}⏎EOF
kaggle_creds='{{"username":"bob","key":"{hex32}"}}'
echo '{{"username":"bob","key":"{hex32}"}}' > ~/.kaggle/kaggle.json
declare -x SECRET_KEY="{mixed32}"
readonly API_KEY={mixed24}
local password={pw}
set -x PASSPHRASE {word}
setenv DB_PASS {word}
PIN={digits}
: "${{HF_TOKEN:={mixed32}}}"
TOKEN=${{TOKEN:-{mixed32}}}
echo "{pw}" | sudo -S apt-get install foo
sudo -S true <<< '{pw}'
gpg --batch --passphrase {word} -d data.gpg
unzip -P {pw} data.zip
7z x -p{pw} data.7z
smbclient //server/share -U bob%{pw}
lftp -u bob,{pw} sftp://example.org
rclone config create s3 access_key_id AK1 secret_access_key {base40}
kubectl create secret generic db --from-literal=password={pw}
mc alias set s3 https://minio.example.org bob {mixed32}
read -r PASSWORD <<< "{pw}"
PGPASSWORD={pw} psql -h db1 -U bob runs
gh auth login --with-token <<< {mixed40}
"""

YAML = """\
password: {pw}
db_password: "{pw}"
  api_key: '{mixed32}'
api_key: >-⏎  {mixed32}
password: |⏎  {pw}
token: >⏎    {mixed24}⏎    {hex32}
token:⏎  {mixed32}
secret: !vault {mixed32}
env: {{HF_TOKEN: {mixed32}, OMP_NUM_THREADS: 1}}
  - name: WANDB_API_KEY⏎    value: {hex40}
  - name: DB_PW⏎    value: "{pw}"
credentials:⏎  user: bob⏎  pass: {pw}
creds: [bob, {pw}]
credentials:⏎  - bob⏎  - {pw}
auth: {{user: bob, pw: {pw}}}
pin: {digits}
passwd: &anchor {pw}
stringData:⏎  dbPassword: {pw}
data:⏎  token: {base40}
"""

PYTHON = """\
PASSWORD = "{pw}"
password: str = '{word}'
api_key = "{mixed32}"
dbPasswd = '{pw}'
MY_PW = "{pw}"
self.secret = "{word}"
creds = ("bob", "{pw}")
CREDENTIALS = ['bob', '{pw}']
user, password = "bob", "{pw}"
login("bob", password="{pw}")
wandb.login(key="{hex40}")
huggingface_hub.login("{mixed32}")
os.environ["HF_TOKEN"] = "{mixed32}"
os.environ.setdefault("MY_PW", "{pw}")
token = os.environ.get("TOKEN", "{mixed32}")
config = {{"user": "bob", "password": "{pw}", "epochs": 3}}
config["api_key"] = "{mixed32}"
headers = {{"Authorization": f"Bearer {mixed40}"}}
auth = ("bob", "{pw}")
requests.get(url, auth=("bob", "{pw}"))
auth = HTTPBasicAuth("bob", "{pw}")
client = boto3.client("s3", aws_secret_access_key="{base40}")
if password == "{pw}":
def connect(host, password="{pw}"):
parser.add_argument("--token", default="{mixed32}")
PIN = {digits}
pin = "{digits}"
apiKey = (⏎    "{mixed32}"⏎)
SECRET_KEY = "{mixed16}" "{mixed20}"
passwords = {{"bob": "{pw}"}}
tokens = ["{mixed32}"]
setattr(settings, "password", "{pw}")
engine = create_engine("postgresql://bob:{pw}@db.example.org/runs")
password = """ + '"""{pw}"""' + """
connection.login("bob", "{pw}")
fernet = Fernet(b"{base40}")
"""

REPRS = """\
{{'user': 'bob', 'password': '{pw}'}}
{{'api_key': '{mixed32}', 'epochs': 3}}
Config(user='bob', password='{pw}', epochs=3)
Settings(db=Database(host='db1', passwd='{pw}'), epochs=3)
Namespace(hub_token='{mixed32}', lr=0.1)
ConfigDict({{'auth': {{'token': '{mixed24}'}}}})
environ({{'MY_PW': '{pw}', 'HOME': '/root'}})
[('password', '{pw}'), ('epochs', 3)]
{{'creds': ('bob', '{pw}')}}
Credentials(access_key='AK1', secret_key='{base40}', token=None)
Auth(user='bob', pw='{pw}')
KeyError: 'no such profile: password={pw}'
ValueError: invalid token '{mixed32}'
b'password={pw}&user=bob'
"password": "{pw}",
OrderedDict([('secret', '{word}')])
mappingproxy({{'passphrase': '{word}'}})
subprocess.CalledProcessError: Command '['mysql', '-u', 'bob', '-p{pw}']' returned non-zero exit status 1.
subprocess.CalledProcessError: Command '['curl', '-u', 'bob:{pw}', 'https://example.org']' returned non-zero exit status 22.
Command '['train', '--password', '{pw}']' timed out after 3 seconds
"""

FILES = """\
{{"username": "bob", "password": "{pw}"}}
{{"auths": {{"registry.example.org": {{"auth": "{base40}"}}}}}}
{{"type": "service_account", "private_key_id": "{hex40}", "private_key": "-----BEGIN PRIVATE KEY-----\\n{pem}\\n-----END PRIVATE KEY-----\\n"}}
{{"access_token":"{mixed40}","expires_in":3600}}
{{\\"password\\": \\"{pw}\\"}}
aws_secret_access_key = {base40}
[client]⏎user=bob⏎password="{pw}"
db.password={pw}
spring.datasource.password: {pw}
//registry.npmjs.org/:_authToken={uuid}
_auth = {base40}
machine api.wandb.ai login user password {hex40}
<password>{pw}</password>
<add key="ApiSecret" value="{mixed32}" />
"""

ADDRESSES = """\
postgresql://bob:{pw}@db.example.org:5432/runs
mongodb+srv://bob:{pw}@cluster0.example.org/?retryWrites=true
redis://:{pw}@cache.example.org:6379/0
https://{mixed40}@github.com/org/repo.git
https://example.org/data?api_key={mixed32}&page=2
https://example.org/data?user=bob&pwd={word}
https://store.blob.core.windows.net/c/model.pt?sv=2023&sig={base40}%3D
https://bucket.s3.amazonaws.com/model.pt?X-Amz-Credential=AK1&X-Amz-Signature={hex64}
Authorization: Basic {base40}
Authorization: Bearer {mixed40}
Cookie: session={mixed32}; theme=dark
Set-Cookie: sessionid={mixed32}; Path=/; HttpOnly
Proxy-Authorization: Digest username="bob", response="{hex32}"
DefaultEndpointsProtocol=https;AccountName=acc;AccountKey={base40}{base40}==;EndpointSuffix=core.windows.net
Server=tcp:db.example.org;Database=runs;User Id=bob;Password={pw};Encrypt=True
jdbc:mysql://db.example.org/runs?user=bob&password={pw}
host=db1 dbname=runs user=bob password={pw} sslmode=require
Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={base40}=
"""

SHAPES = """\
hf_{mixed34}
ghp_{mixed36}
github_pat_{mixed22}_{mixed59}
sk-{mixed48}
sk-proj-{mixed40}
sk-ant-api03-{mixed48}
AKIA{upper16} {base40}
xoxb-{digits}12-{digits}34-{mixed24}
https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{mixed24}
{jwt}
npm_{mixed36}
pypi-AgEIcHlwaS5vcmc{mixed48}
glpat-{mixed20}
AIza{mixed35}
ya29.{mixed48}
SG.{mixed22}.{mixed43}
sk_live_{mixed24}
dckr_pat_{mixed27}
dapi{hex32}
gsk_{mixed52}
r8_{mixed37}
-----BEGIN OPENSSH PRIVATE KEY-----⏎{pem}⏎-----END OPENSSH PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----⏎{pem}⏎-----END EC PRIVATE KEY-----
https://discord.com/api/webhooks/123456789012345678/{mixed68}
"""

VARIABLES = """\
HF_TOKEN={mixed32}
MY_PW={pw}
dbPasswd={pw}
DB_PASS={word}
CREDS=bob:{pw}
WANDB_API_KEY={hex40}
NCCL_PIN={digits}
SSH_PASSPHRASE={word}
S3_ACCESS_KEY={mixed20}
SLURM_JWT={jwt}
CLUSTER_AUTH=bob:{pw}
MLFLOW_TRACKING_PASSWORD={pw}
DATABASE_DSN=postgresql://bob:{pw}@db/runs
TORCH_SIGNING_KEY={base40}
"""

LANGUAGES = {
    "prose": PROSE, "argv": ARGV, "shell": SHELL, "yaml": YAML, "python": PYTHON, "repr": REPRS, "file": FILES,
    "address": ADDRESSES, "shape": SHAPES, "variable": VARIABLES,
}  # fmt: skip

_MARK = re.compile(r"\{(pw|word|digits|uuid|pem|jwt|(?:mixed|hex|base|upper)\d+)\}")
_ALPHABETS = {
    "mixed": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "base": string.ascii_letters + string.digits + "+/",
    "upper": string.ascii_uppercase + string.digits,
}
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "shi")


class Planted(NamedTuple):
    """A text with secrets in it, whose values no other text has."""

    language: str
    form: str
    text: str
    secrets: tuple[str, ...]


def plant(language: str, form: str, seed: str) -> Planted:
    """Returns the form filled with secrets of its own, the same in every run."""
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        value = _value(match[1], f"{seed} {form} {len(secrets)}")
        secrets.extend(value.split("\\n") if match[1] == "pem" else [value])
        return value

    filled = _MARK.sub(fill, form)
    text = filled.replace("{{", "{").replace("}}", "}").replace("⏎", "\n")
    return Planted(language, form, text, tuple(secrets))


def everything(seed: str = "first") -> Iterator[Planted]:
    """Yields every form once."""
    for language, forms in LANGUAGES.items():
        for form in forms.splitlines():
            yield plant(language, form, seed)


def _value(kind: str, seed: str) -> str:
    name, length = kind.rstrip("0123456789"), int(kind.lstrip("abcdefghijklmnopqrstuvwxyz") or 0)
    numbers = b"".join(hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(8))
    if name in _ALPHABETS:
        return "".join(_ALPHABETS[name][n % len(_ALPHABETS[name])] for n in numbers[:length])
    word = "".join(_SYLLABLES[n % 16] for n in numbers[:5])
    match name:
        case "word":
            return word
        case "pw":
            return f"{word.capitalize()}{numbers[9]}!{_SYLLABLES[numbers[10] % 16]}"
        case "digits":
            return "".join(str(n % 10) for n in numbers[:8])
        case "uuid":
            return str(uuid.UUID(bytes=numbers[:16]))
        case "pem":
            body = base64.b64encode(numbers[:192]).decode()
            return "\\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"eyJ{base64.b64encode(numbers[:24]).decode()}.eyJ{_value('mixed60', seed)}.{_value('mixed43', seed + 'x')}"

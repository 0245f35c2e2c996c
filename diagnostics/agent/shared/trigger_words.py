"""What stands in place of a secret, and the words without one of which no secret is looked for."""

from __future__ import annotations

HIDDEN = "[redacted]"
# A line without any of these holds none of the known forms.
TRIGGERS = (
    "token", "secret", "pass", "cred", "key", "pwd", "pw", "psw", "pin", "jwt", "otp", "dsn", "login", "fernet",
    "mnemonic", "connection", "://", "bearer", "basic", "auth", "cookie", "session", "signature", "sig=", "code=",
    "webhook", "stdin", "sudo", "kinit", "chpasswd", "expect", "sendline", "<<<", " -p", " -a", " -u", " -w", "-u",
    "-p", "--user", "mc alias", "hf_", "api_org_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat-",
    "sk-", "k_live", "k_test", "whsec_", "akia", "asia", "aiza", "ya29.", "gocspx", "xox", "xapp-", "eyj", "npm_",
    "pypi-", "dop_v1", "dckr_pat", "sg.", "nvapi-", "r8_", "gsk_", "wandb", "biases", ":aa", "dapi", "shpat_",
    "shpca_", "shppa_", "shpss_", "hvs.", "atatt3", "xai-", "pplx-", "glsa_", "sntrys_", "lin_api_", "pul-", "ntn_",
    "ltai",
)  # fmt: skip

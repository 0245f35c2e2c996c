"""A real Chromium, driven by its own ChromeDriver over HTTP: no library between, no downloads."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BROWSER, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
WHY_NOT = "" if BROWSER and DRIVER else "no browser: apt-get install chromium chromium-driver"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One headless browser; `with` it."""

    def __enter__(self) -> Browser:
        self._process = subprocess.Popen([str(DRIVER), "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        port = next(
            found[1] for line in self._process.stdout if (found := re.search(r"successfully on port (\d+)", line))
        )
        self._url = f"http://127.0.0.1:{port}"
        options = {
            "binary": BROWSER,
            "args": ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"],
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._call("DELETE", self._session)
        finally:
            self._process.terminate()
            self._process.wait(10)
            self._process.stdout.close() if self._process.stdout else None

    def open(self, page: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Loads a page at a width, light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        self.tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self._post("/url", {"url": page.as_uri()})

    def script(self, text: str, *arguments: Any) -> Any:
        """Returns what a function body returns."""
        return self._post("/execute/sync", {"script": text, "args": list(arguments)})

    def later(self, text: str, *arguments: Any) -> Any:
        """Returns what a function body hands to its last argument."""
        return self._post("/execute/async", {"script": text, "args": list(arguments)})

    def find(self, selector: str) -> str:
        """Returns the id of the first element."""
        found: str = self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]
        return found

    def click(self, selector: str) -> None:
        """Clicks the first element."""
        self._post(f"/element/{self.find(selector)}/click", {})

    def press(self, keys: str) -> None:
        """Presses keys where the focus is; WebDriver's private characters for arrows."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def hover(self, selector: str) -> None:
        """Moves the pointer over the first element."""
        origin = {ELEMENT: self.find(selector)}
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin}
        self._post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def tell(self, command: str, **parameters: Any) -> Any:
        """Sends a command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def said(self) -> list[str]:
        """Returns what the console has said since it was asked last."""
        return [entry["message"] for entry in self._post("/se/log", {"type": "browser"})]

    def picture(self, path: Path) -> None:
        """Keeps a picture of the whole page."""
        height = self.script("return document.documentElement.scrollHeight")
        width = self.script("return document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 8000), "scale": 1}
        data = self.tell("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._call("POST", self._session + path, body)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._url + path, data=data, method=method)  # noqa: S310 - our own driver
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error

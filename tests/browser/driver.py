"""driver.py - a browser, driven by WebDriver over plain HTTP: Chromium without a window, and its own driver.

    with Browser(folder) as browser:
        browser.open("http://127.0.0.1:15702")
        browser.click(".row")
        browser.until("return document.title")

Nothing but Python's own library is needed beside the programs chromium and chromedriver.
"""
import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import time

PATIENCE = 30  # seconds that anything may take before a test gives up
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    def __init__(self, folder, width=1280, height=800):
        self.folder, self.size = folder, (width, height)

    def __enter__(self):
        driver = shutil.which("chromedriver")
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if driver is None or browser is None:
            raise RuntimeError("there is no chromium with its chromedriver; tools/packages.sh browser installs them")
        self.log = open(os.path.join(self.folder, "chromedriver.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([driver, "--port=0"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        end = time.monotonic() + PATIENCE
        self.port = None
        while self.port is None:
            with open(self.log.name, encoding="utf-8", errors="replace") as said:
                found = re.search(r"started successfully on port (\d+)", said.read())
            if found:
                self.port = int(found.group(1))
            elif time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("chromedriver does not start")
            else:
                time.sleep(0.05)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
                     "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
                     f"--window-size={self.size[0]},{self.size[1]}", f"--user-data-dir={self.folder}/profile"]
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": browser, "args": arguments}}}})
        self.session = "/session/" + answer["sessionId"]
        return self

    def __exit__(self, kind, value, trace):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()
        return False

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2 * PATIENCE)
        connection.request(method, path, json.dumps(body if body is not None else {}) if method == "POST" else None,
                           {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        value = answer["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value['message']}")
        return value

    def command(self, method, path, body=None):
        return self.ask(method, self.session + path, body)

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments):
        """What the script returns once that is true."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.run(script, *arguments)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script} {arguments}; the page says: " + self.run("return document.body.innerText"))
            time.sleep(0.05)

    def find(self, selector):
        return self.command("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.command("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.command("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def keys(self, *keys):
        """Press keys, one after another, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def resize(self, width, height):
        self.command("POST", "/window/rect", {"width": width, "height": height})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    def complaints(self):
        """What the console of the browser holds since the last look, warnings and errors only."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("WARNING", "SEVERE")]

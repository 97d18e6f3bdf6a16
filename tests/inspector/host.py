"""host.py - a running host for tests of the inspector: started, asked, ended.

    with Host(build, ini_text) as host:
        host.call("backplane.worlds")

The port is any that is free, read from what the program says. Nothing but Python's own library is needed.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PATIENCE = 60  # seconds that anything may take before a test gives up


class Refused(Exception):
    """An error of JSON-RPC."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


def config(build, name, folder, steps=""):
    """config/NAME.ini with an inspector on a free port, without an end, and with what it writes in a folder. `steps` stands
    in the place of the line that says how many steps are taken."""
    with open(os.path.join(ROOT, "config", name + ".ini"), encoding="utf-8") as file:
        text = file.read()
    for old, new in [(r"^plugins = ", f"plugin_path = {build}/plugins\nplugins = inspector "), (r"^steps = .*$", steps),
                     (r"= build/", f"= {folder}/")]:
        if re.search(old, text, re.MULTILINE) is None:
            raise AssertionError(f"config/{name}.ini reads otherwise now: there is no {old}")
        text = re.sub(old, new, text, flags=re.MULTILINE)
    return text.replace("scenes = ", f"scenes = {ROOT}/config/") + "\n[plugin inspector]\nport = 0\n"


def program(build):
    """The program in a folder, as a command; one for Windows by wine."""
    own = os.path.join(build, "backplane")
    return ["wine", own + ".exe"] if os.path.exists(own + ".exe") else [own]


class Host:
    def __init__(self, build, ini, folder=None, token=None, status=0):
        self.wanted = status  # that the program ends with
        self.build, self.ini, self.token = os.path.abspath(build), ini, token
        self.folder = folder or tempfile.mkdtemp(prefix="inspector-")
        self.process, self.port, self.said = None, None, ""

    def __enter__(self):
        path = os.path.join(self.folder, "test.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.ini)
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(program(self.build) + ["run", path, "--real-time"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        end = time.monotonic() + PATIENCE
        while self.port is None:
            found = re.search(r"http://[^ ]*:(\d+)", self.output())
            if found:
                self.port = int(found.group(1))
            elif self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the host does not start: " + self.output())
            else:
                time.sleep(0.01)
        return self

    def output(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def __exit__(self, kind, value, trace):
        if program(self.build)[0] == "wine":  # which hands no Ctrl-C on
            self.process.kill()
            self.process.wait()
            return False
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            if kind is None:
                raise RuntimeError("the host does not end: " + self.output()) from None
        if kind is None and (self.status != self.wanted or "not given back" in self.output()):
            raise RuntimeError(f"the host ended with {self.status}: " + self.output())
        return False

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        own = {"Authorization": "Bearer " + self.token} if self.token else {}
        own.update(headers or {})
        connection.request(method, path, body=body, headers=own)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, content

    def call(self, method, params=None, path="/"):
        body = {"jsonrpc": "2.0", "id": 1, "method": method}
        if params is not None:
            body["params"] = params
        status, _, content = self.request("POST", path, json.dumps(body))
        if status != 200:
            raise Refused(status, content.decode())
        answer = json.loads(content)
        if "error" in answer:
            raise Refused(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def steps(self):
        return self.call("backplane.worlds")[0]["step"]

    def must_step(self):
        """The world takes steps."""
        before = self.steps()
        self.until(lambda: self.steps() > before, "the world takes no steps")

    def until(self, condition, failure):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(failure + ": " + self.output())
            time.sleep(0.01)

    def raw(self):
        """A socket, connected."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def events(self, method, params):
        """The results that a stream tells, one after another."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", "/", body=body, headers={"Authorization": f"Bearer {self.token}"} if self.token else {})
        answer = connection.getresponse()
        try:
            for line in answer:
                if line.startswith(b"data:"):
                    told = json.loads(line[5:])
                    if "error" in told:
                        raise Refused(told["error"]["code"], told["error"]["message"])
                    yield told["result"]
        finally:
            connection.close()

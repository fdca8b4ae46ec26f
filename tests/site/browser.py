"""A headless Chromium, spoken to over two pipes (Chrome DevTools protocol): no driver, no port, no network."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: Chromium reads its commands from file 3 and writes its answers to file 4.
START = """import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])"""
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
FLAGS += ["--disable-background-networking", "--remote-debugging-pipe"]


def above_ten(file):
    """The same file under a number that is not 3 or 4."""
    high = fcntl.fcntl(file, fcntl.F_DUPFD, 10)
    os.close(file)
    return high


class Browser:
    """One page; `complaints` holds errors of console, scripts and loading, and every request of the network."""

    def __init__(self, profile):
        theirs, self.out = map(above_ten, os.pipe())
        self.answers, their_out = map(above_ten, os.pipe())
        command = [sys.executable, "-c", START, str(theirs), str(their_out)]
        self.process = subprocess.Popen(
            [*command, CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs, their_out),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs), os.close(their_out)
        self.rest, self.events, self.number, self.session, self.complaints = b"", [], 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out), os.close(self.answers)

    def call(self, method, **params):
        """The result of one command; what else is said meanwhile is kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self.number:
            self._listen(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, path, width, query=""):
        """Load a file, with a query, in a window of that width; a phone if it is narrow."""
        self.visit(path.as_uri() + f"?{query}" * bool(query), width)

    def visit(self, address, width):
        """Load an address in a window of that width; a phone if it is narrow."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.complaints, self.events = [], []
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self._listen(self._next())

    def ask(self, expression):
        """What a JavaScript expression (or promise) is."""
        its = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return its["result"].get("value")

    def _next(self):
        end = time.monotonic() + 120
        while b"\0" not in self.rest:
            self.rest += os.read(self.answers, 1 << 20)
            if time.monotonic() > end:
                raise TimeoutError("the browser says nothing")
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def _listen(self, message):
        method, its = message.get("method", ""), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(its["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and its["type"] in ("error", "assert"):
            self.complaints.append(str(its["args"]))
        elif method == "Log.entryAdded" and its["entry"]["level"] == "error":
            self.complaints.append(f"{its['entry']['text']} {its['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent" and not its["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(its["request"]["url"])

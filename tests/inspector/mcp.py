"""mcp.py BUILD - the inspector's Model Context Protocol, asked by the protocol's official client (mcp.mjs).

The client comes from npm, at the version below, into BUILD/mcp; nothing of it is in the source. Where there is no npm, or
it can fetch nothing, nothing is checked, and that is said.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from host import ROOT, Host, config

CLIENT = "@modelcontextprotocol/sdk@1.32.2"


def fetch_client(folder):
    """True where the client lies in the folder, since an earlier run or from now on."""
    if os.path.isdir(os.path.join(folder, "node_modules", "@modelcontextprotocol", "sdk")):
        return True
    os.makedirs(folder, exist_ok=True)
    return subprocess.run(["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent",
                           "--prefix", folder, CLIENT], stdin=subprocess.DEVNULL).returncode == 0


def main():
    build = os.path.abspath(sys.argv[1])
    place = os.path.join(build, "mcp")
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("mcp: skipped, there is no node with its npm (Debian: apt-get install npm)")
        return 0
    if not fetch_client(place):
        print(f"mcp: skipped, npm cannot fetch {CLIENT}")
        return 0
    shutil.copy(os.path.join(ROOT, "tests", "inspector", "mcp.mjs"), place)
    folder = tempfile.mkdtemp(prefix="mcp-")
    with Host(build, config(build, "solar_system", folder, steps="history = 64 MiB"), folder) as host:
        status = subprocess.run(["node", os.path.join(place, "mcp.mjs"), f"http://127.0.0.1:{host.port}"]).returncode
    shutil.rmtree(folder)
    return status


sys.exit(main())

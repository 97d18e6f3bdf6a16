"""robust.py BUILD - the inspector's server against what is wrong, too much, too slow or ill-meant.

Whatever is done to it, the world takes its steps, and the next request is answered.
"""
import json
import random
import socket
import sys
import time

from host import Host, Refused

INI = """
[host]
plugins = point_mass debug_name inspector
[plugin inspector]
port = 0
%s
[world main]
step_rate = 200
components = point_mass debug_name
[spawn main some]
count = 10
components = body:point_mass name:debug_name
name.name = thing
"""


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def error_of(host, body, path="/"):
    status, _, content = host.request("POST", path, body)
    check(status == 200, f"errors of JSON-RPC come with 200, not {status}")
    return json.loads(content)["error"]["code"]


def head(host, extra=""):
    return f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\n{extra}"


def answer_to(host, bytes_sent, shut=False):
    """The first line of what a socket is answered."""
    with host.raw() as s:
        s.sendall(bytes_sent)
        if shut:
            s.shutdown(socket.SHUT_WR)
        data = b""
        try:
            while b"\r\n" not in data:
                more = s.recv(4096)
                if not more:
                    break
                data += more
        except OSError:
            pass
        return data.split(b"\r\n")[0].decode(errors="replace")


# --- who may come in


def other_hosts_are_refused(host):
    for name in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:1", "[::1", "", "localhost:99999"]:
        status, _, _ = host.request("POST", "/", "{}", {"Host": name})
        check(status in (400, 403), f"Host {name!r} is let in: {status}")
    for name in ["localhost", "LOCALHOST", f"127.0.0.1:{host.port}", f"[::1]:{host.port}"]:
        status, _, _ = host.request("POST", "/", "{}", {"Host": name})
        check(status == 200, f"Host {name!r} is refused: {status}")


def other_origins_are_refused(host):
    for origin in ["http://evil.example", "null", "https://127.0.0.1", f"http://127.0.0.1:{host.port + 1}", "http://localhost"]:
        status, headers, _ = host.request("POST", "/", "{}", {"Origin": origin})
        check(status == 403, f"Origin {origin!r} is let in: {status}")
        check("access-control-allow-origin" not in headers, "a page of another site may read the answer")
    own = f"http://127.0.0.1:{host.port}"
    status, _, _ = host.request("POST", "/", "{}", {"Origin": own})
    check(status == 200, "the page's own origin is refused")


def a_listed_origin_may_call(build):
    with Host(build, INI % "origins = http://tool.example:8080\nhosts = tool.local") as host:
        status, headers, _ = host.request("OPTIONS", "/", None, {"Origin": "http://tool.example:8080"})
        check(status == 204 and headers["access-control-allow-origin"] == "http://tool.example:8080", "no answer before the flight")
        status, headers, _ = host.request("POST", "/", "{}", {"Origin": "http://tool.example:8080"})
        check(status == 200 and headers["access-control-allow-origin"] == "http://tool.example:8080", "a listed origin is refused")
        status, _, _ = host.request("POST", "/", "{}", {"Origin": "http://tool.example:8081"})
        check(status == 403, "an origin that is not listed is let in")
        status, _, _ = host.request("POST", "/", "{}", {"Host": "tool.local"})
        check(status == 200, "a listed host is refused")


def a_token_is_asked_for(build):
    with Host(build, INI % "address = 0.0.0.0\ntoken = secret", token="secret") as host:
        for value in [None, "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret", "secret"]:
            host.token = None
            status, _, _ = host.request("POST", "/", "{}", {"Authorization": value} if value else {})
            check(status == 401, f"Authorization {value!r} is let in: {status}")
        host.token = "secret"
        host.call("backplane.info")
        host.token = None
        status, _, _ = host.request("GET", "/", None, {"Accept-Encoding": "gzip"})
        check(status == 200, "the page, which asks for the token, needs one itself")
        status, _, _ = host.request("POST", "/", "{}", {"Host": "rebound.example"})
        check(status == 403, "a name that was not listed is let in")


def elsewhere_than_loopback_needs_a_token(build):
    try:
        with Host(build, INI % "address = 0.0.0.0"):
            raise AssertionError("it listens to everybody without a token")
    except RuntimeError as error:
        check("set `token` too" in str(error), f"no sentence about the token: {error}")


def headers_guard_the_page(host):
    status, headers, content = host.request("GET", "/", None, {"Accept-Encoding": "gzip"})
    check(status == 200 and headers["content-type"].startswith("text/html"), "there is no page")
    policy = headers["content-security-policy"]
    check("default-src 'none'" in policy and "unsafe" not in policy and "http:" not in policy, f"the policy lets much in: {policy}")
    check(headers["x-content-type-options"] == "nosniff", "types are guessed")
    tag = headers["etag"]
    status, _, content = host.request("GET", "/", None, {"Accept-Encoding": "gzip", "If-None-Match": tag})
    check(status == 304 and content == b"", "what the browser has is sent again")
    status, _, _ = host.request("GET", "/", None, {"Accept-Encoding": "identity"})
    check(status == 406, "compressed bytes go to a client that cannot read them")


# --- what is wrong


def paths_do_not_lead_out(host):
    for path in ["/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.js/..", "//app.js", "/app.js%00.html", "/APP.JS", "/world/",
                 "/world/main/x", "/world/" + "a" * 100, "/..;/", "/index.html/../../x", "*"]:
        for method in ["GET", "POST"]:
            status, _, _ = host.request(method, path, b"{}" if method == "POST" else None, {"Accept-Encoding": "gzip"})
            check(status in (400, 404, 405), f"{method} {path}: {status}")


def methods_that_do_not_fit_are_refused(host):
    for method, path, wanted in [("GET", "/mcp", 405), ("DELETE", "/mcp", 405), ("PUT", "/", 405), ("GET", "/points", 405),
                                 ("POST", "/app.js", 405), ("OPTIONS", "/", 405), ("TRACE", "/", 405), ("GET", "/world/main", 405)]:
        status, headers, _ = host.request(method, path)
        check(status == wanted and "allow" in headers, f"{method} {path}: {status}")


def malformed_bodies_get_their_code(host):
    for body in ["", "{", "[", "nonsense", '{"jsonrpc":"2.0"', "[]", '"text"', "1", "null", "\x00", "{}", '{"jsonrpc":"1.0","method":"x"}',
                 '{"jsonrpc":"2.0","id":{},"method":"x"}', '{"jsonrpc":"2.0","method":1}', '{"jsonrpc":"2.0","method":"x","params":1}',
                 '{"jsonrpc":"2.0","method":"x","more":1}', '{"jsonrpc":"2.0","method":"x","method":"y"}', "[" * 3000, '{"a":' * 3000]:
        check(error_of(host, body) == -32600, f"{body[:60]!r} is not refused as malformed")
    check(error_of(host, '{"jsonrpc":"2.0","id":1,"method":"world.trigger_event"}') == -32601, "an unknown method is known")
    check(error_of(host, '{"jsonrpc":"2.0","id":1,"method":"backplane.get"}') == -32602, "a missing parameter is not missed")
    check(error_of(host, '{"jsonrpc":"2.0","id":1,"method":"backplane.speed","params":{"world":"main"}}') == -32602,
          "a missing number is not missed")
    check(error_of(host, '{"jsonrpc":"2.0","id":1,"method":"world.spawn_entity","params":{"components":[]}}') == -32602,
          "a list of components is taken for an object")
    check(error_of(host, '{"jsonrpc":"2.0","id":1,"method":"backplane.worlds"}', "/world/other") == -32600, "an unknown world is known")
    batch = json.loads(host.request("POST", "/", '[1,{"jsonrpc":"2.0","id":2,"method":"backplane.worlds"},'
                                                 '{"jsonrpc":"2.0","id":3,"method":"backplane.watch+watch"}]')[2])
    check([item.get("error", {}).get("code") for item in batch] == [-32600, None, -32600], f"a batch is answered by {batch}")
    status, _, _ = host.request("POST", "/mcp", "{")
    check(status == 400, "MCP takes what is no JSON")


def large_bodies_are_refused(host):
    status, _, _ = host.request("POST", "/", b" " * (1 << 20))
    check(status == 200, "a body of 1 MiB is refused")
    told = f"Content-Length: {(1 << 20) + 1}\r\n"
    for sent in [head(host, told + "\r\n").encode() + b" " * ((1 << 20) + 1), head(host, told + "Expect: 100-continue\r\n\r\n").encode()]:
        line = answer_to(host, sent)
        check(" 413 " in line, f"a body of more than 1 MiB is taken: {line}")
    for told in ["99999999999999999999", "-1", "1, 2", "0x10", ""]:
        line = answer_to(host, head(host, f"Content-Length: {told}\r\n\r\n{{}}").encode())
        check(not line.startswith("HTTP/1.1 200") or told == "", f"Content-Length {told!r}: {line}")
    with host.raw() as s:  # a body that never ends, its size never told
        s.sendall(head(host, "Transfer-Encoding: chunked\r\n\r\n").encode())
        sent = 0
        try:
            while sent < 8 << 20:
                s.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                sent += 0x10000
        except OSError:
            pass
        check(sent < 8 << 20, "a body without end is taken in without end")


def smuggled_headers_are_refused(host):
    for extra in ["Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                  f"Host: 127.0.0.1:{host.port}\r\nContent-Length: 2\r\n", "Origin: a\r\nOrigin: b\r\nContent-Length: 2\r\n"]:
        line = answer_to(host, head(host, extra + "\r\n{}").encode())
        check(" 200 " not in line, f"{extra!r}: {line}")


def large_headers_are_refused(host):
    line = answer_to(host, head(host, "X: " + "y" * 60000 + "\r\n\r\n").encode())
    check("431" in line or "413" in line or line == "", f"a header of 60 KB: {line}")
    line = answer_to(host, b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check(" 200 " not in line, f"an address of 60 KB: {line}")


def noise_is_survived(host):
    draw = random.Random(7)
    good = head(host, 'Content-Length: 51\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"backplane.worlds"}').encode()
    for i in range(600):
        data = bytearray(good if i % 3 else draw.randbytes(draw.randrange(1, 300)))
        for _ in range(draw.randrange(1, 8)):
            at = draw.randrange(len(data))
            kind = draw.randrange(4)
            if kind == 0:
                data[at] = draw.randrange(256)
            elif kind == 1:
                del data[at:at + draw.randrange(1, 20)]
            elif kind == 2:
                data[at:at] = draw.randbytes(draw.randrange(1, 20))
            else:
                data[at:at] = data[at:at + draw.randrange(1, 40)]
            if not data:
                data = bytearray(b"x")
        with host.raw() as s:
            s.sendall(data)
            if i % 5 == 0:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of an end
    host.call("backplane.info")


# --- too much, too slow


def slow_clients_delay_nobody(host):
    slow = []
    for i in range(100):
        s = host.raw()
        s.sendall(b"POST / HTTP/1.1\r\nHost: 127" if i % 2 else head(host, "Content-Length: 1000\r\n\r\n{").encode())
        slow.append(s)
    for _ in range(5):
        for s in slow[:20]:
            try:
                s.sendall(b" ")
            except OSError:
                pass
        host.must_step()
    for s in slow:
        s.close()


def slow_clients_are_cut_in_the_end(build):
    with Host(build, INI % "") as host:
        s = host.raw()
        s.sendall(b"POST / HTTP/1.1\r\nHo")
        began = time.monotonic()
        s.settimeout(1)
        closed = False
        while not closed and time.monotonic() - began < 60:
            try:
                s.sendall(b"s")  # a byte a second keeps most servers waiting for ever
                closed = s.recv(1) == b""
            except socket.timeout:
                continue
            except OSError:
                closed = True
        check(closed, "a client that sends a byte a second is waited for without end")
        host.must_step()


def many_connections_leave_the_world_alone(host):
    open_now, tried = [], 0
    for _ in range(10000):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", host.port))
        open_now.append(s)
        tried += 1
        if len(open_now) > 400:
            open_now.pop(0).close()
    for s in open_now:
        s.close()
    host.must_step()


def more_streams_than_allowed_are_refused(build):
    with Host(build, INI % "streams = 3") as host:
        streams = []
        for _ in range(3):
            stream = host.events("backplane.watch+watch", {})
            next(stream)
            streams.append(stream)
        status, _, _ = host.request("POST", "/", '{"jsonrpc":"2.0","id":1,"method":"backplane.watch+watch"}')
        check(status == 503, f"a fourth stream is opened: {status}")
        streams.pop().close()
        host.until(lambda: host.request("POST", "/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}')[0] == 200, "no answer")

        def one_more():
            try:
                stream = host.events("backplane.watch+watch", {})
                next(stream)
                streams.append(stream)
                return True
            except (StopIteration, Refused):
                return False
        host.until(one_more, "the place of a stream that was closed stays taken")
        for stream in streams:
            stream.close()


def streams_that_nobody_reads_are_bounded(host):
    sockets = []
    for _ in range(8):
        s = host.raw()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        body = b'{"jsonrpc":"2.0","id":1,"method":"backplane.watch+watch","params":{"every_ms":20,"entity":4294967296}}'
        s.sendall(head(host, f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
        sockets.append(s)
    for _ in range(3):
        host.must_step()
    for s in sockets:
        s.close()


def more_requests_than_allowed_are_refused(build):
    with Host(build, INI % "rate = 20") as host:
        refused = 0
        for _ in range(200):
            status, headers, _ = host.request("POST", "/", '{"jsonrpc":"2.0","id":1,"method":"backplane.worlds"}')
            if status == 429:
                refused += 1
                check("retry-after" in headers, "no word when to come again")
        check(refused > 0, "200 requests at once are taken where 20 a second are allowed")


def read_only_is_read_only(build):
    with Host(build, INI % "read_only = true") as host:
        for method, params in [("world.spawn_entity", {"components": {}}), ("world.despawn_entity", {"entity": "#0:1"}),
                               ("world.mutate_components", {"entity": "#0:1", "component": "body", "path": ".mass", "value": 2}),
                               ("backplane.set", {"path": "main/#0:1.body.mass", "value": 2})]:
            try:
                host.call(method, params)
                raise AssertionError(f"{method} changes a host that is read-only")
            except Refused as refused:
                check("read-only" in refused.message, refused.message)
        check(host.call("backplane.get", {"path": "main/#0:1.body.mass"})["value"] == 1, "something was changed")


def changes_are_logged(host):
    host.call("backplane.set", {"path": "main/#1:1.body.mass", "value": 3})
    host.until(lambda: 'backplane.set {"path":"main/#1:1.body.mass","value":3}' in host.output(), "a change is not in the log")


def main():
    build = sys.argv[1]
    with Host(build, INI % "") as host:
        for test in [other_hosts_are_refused, other_origins_are_refused, headers_guard_the_page, paths_do_not_lead_out,
                     methods_that_do_not_fit_are_refused, malformed_bodies_get_their_code, large_bodies_are_refused,
                     smuggled_headers_are_refused, large_headers_are_refused, noise_is_survived, slow_clients_delay_nobody,
                     many_connections_leave_the_world_alone, streams_that_nobody_reads_are_bounded, changes_are_logged]:
            test(host)
            host.must_step()
            print("passed:", test.__name__)
    for test in [a_listed_origin_may_call, a_token_is_asked_for, elsewhere_than_loopback_needs_a_token, slow_clients_are_cut_in_the_end,
                 more_streams_than_allowed_are_refused, more_requests_than_allowed_are_refused, read_only_is_read_only]:
        test(build)
        print("passed:", test.__name__)


main()

"""page.py BUILD - the inspector's page in a browser: seen, touched, and looked at.

A solar system runs, then a plugin that is changed meanwhile, then a world with nothing in it. Pictures of each stay in
BUILD/browser. Whatever the browser's console has to say against the page is a failure.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inspector"))
from driver import Browser  # noqa: E402
from host import Host, config  # noqa: E402
from spin import SPIN, build_spin  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HARMLESS = ["GL Driver Message", "willReadFrequently"]  # what taking pictures and counting pixels cost
SPACE, TAB, ENTER, ESCAPE, DOWN = " ", "\ue004", "\ue007", "\ue00c", "\ue015"

EMPTY = """
[host]
plugins = inspector
plugin_path = %s
[plugin inspector]
port = 0
[world main]
step_rate = 60
"""

ROW = "return [...document.querySelectorAll('.entities .row')].find((row) => row.innerText.split('\\n')[0] === arguments[0])"


def check(truth, what):
    if not truth:
        raise AssertionError(what)


class Page:
    """A page on a host, and the checks that hold on every one."""

    def __init__(self, browser, host, pictures):
        self.browser, self.host, self.pictures = browser, host, pictures
        browser.open(f"http://127.0.0.1:{host.port}/")
        browser.run("localStorage.clear(); localStorage.setItem('backplane.theme', '\"dark\"')")
        browser.open(f"http://127.0.0.1:{host.port}/")
        browser.until("return document.querySelector('.clock')?.textContent.includes('step')")

    def look(self, name):
        self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        self.browser.picture(os.path.join(self.pictures, name + ".png"))
        wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
        check(wide <= 0, f"{name}: the page is {wide} pixels wider than the window")
        said = [text for text in self.browser.complaints() if not any(word in text for word in HARMLESS)]
        check(not said, f"{name}: the browser complains: {said}")

    def select(self, name):
        self.browser.until(f"const row = (() => {{ {ROW} }})(...arguments); row?.click(); return row !== undefined", name)
        self.browser.until("return document.querySelector('.right h2').textContent === arguments[0]", name)

    def search(self, text):
        self.browser.run("const box = document.querySelector('.search'); box.value = ''; box.focus()")
        if text:
            self.browser.type(".search", text)
        else:
            self.browser.run("document.querySelector('.search').dispatchEvent(new Event('input'))")

    def until_rows(self, *names):
        self.browser.until("return [...document.querySelectorAll('.entities .row')].filter((row) => row.offsetParent)"
                           ".map((row) => row.innerText.split('\\n')[0]).join() === arguments[0]", ",".join(names))


def looks_at_the_solar_system(page):
    browser, host = page.browser, page.host
    browser.until("return document.querySelectorAll('.entities .row').length === 10")
    host.call("backplane.speed", {"speed": 50})
    page.select("earth")
    browser.until("return document.querySelector('.view canvas, .stage canvas') !== null")
    browser.until("return document.querySelector('.right').innerText.includes('solar mass')")
    before = host.steps()
    host.until(lambda: host.steps() > before + 4000, "the solar system takes no steps")
    page.look("solar_system")


def searches(page):
    page.search("body.mass > 0.5")
    page.until_rows("sun")
    page.search("ur")
    page.until_rows("mercury", "saturn", "uranus")
    page.search("body.masss > 1")
    page.browser.until("return document.querySelector('.entities .note').textContent.includes('mass')")
    page.look("search_refused")
    page.search("nobody")
    page.browser.until("return document.querySelector('.entities .empty').innerText.includes('No entity is like that')")
    page.search("")
    page.browser.until("return document.querySelectorAll('.entities .row').length === 10")


def edits(page):
    browser, host = page.browser, page.host
    page.select("sun")
    cell = "[aria-label='body.mass']"
    browser.until("return document.querySelector(arguments[0]) !== null", cell)
    browser.run("const cell = document.querySelector(arguments[0]); cell.focus(); cell.select()", cell)
    browser.type(cell, "0.5" + ENTER)
    host.until(lambda: host.call("backplane.get", {"path": "main/sun.body.mass"})["value"] == 0.5, "what was typed does not arrive")
    browser.run("const cell = document.querySelector(arguments[0]); cell.focus(); cell.select()", cell)
    browser.type(cell, "-1" + ENTER)
    browser.until("return document.querySelector('.refusal')?.textContent.length > 5")
    page.look("value_refused")
    check(host.call("backplane.get", {"path": "main/sun.body.mass"})["value"] == 0.5, "a mass below 0 is taken")
    host.call("backplane.set", {"path": "main/sun.body.mass", "value": 1})
    browser.keys(ESCAPE)
    browser.until("return document.querySelector(arguments[0]).value === '1'", cell)


def goes_by_keyboard(page):
    browser, host = page.browser, page.host
    paused = lambda: host.call("backplane.worlds")[0]["paused"]  # noqa: E731
    browser.run("document.activeElement.blur()")
    browser.keys(SPACE)
    host.until(paused, "the space bar does not pause")
    browser.until("return document.querySelector('[aria-label=run]') !== null")
    before = host.steps()
    browser.keys("s")
    host.until(lambda: host.steps() == before + 1, "s takes no step")
    check(paused(), "after a step the world goes on")
    browser.keys(SPACE)
    host.until(lambda: not paused(), "the space bar does not run")
    host.must_step()
    browser.keys("e", DOWN, DOWN)
    browser.until("return document.querySelector('.right h2').textContent !== 'sun'")
    browser.keys("?")
    browser.until("return document.querySelector('dialog').open")
    page.look("keys")
    browser.keys(ESCAPE)
    browser.until("return !document.querySelector('dialog').open")


def shows_the_world_itself(page):
    browser, host = page.browser, page.host
    check(browser.run("return document.querySelector('.own').hidden"), "a world without components of its own has a line for them")
    host.call("world.insert_resources", {"resource": "gravity_law", "value": {"softening": 0.5}})
    browser.until("return !document.querySelector('.own').hidden")
    browser.click(".own")
    browser.until("return document.querySelector('.right h2').textContent === 'world main'")
    cell = "[aria-label='gravity_law.softening']"
    browser.until("return document.querySelector(arguments[0])?.value === '0.5'", cell)
    browser.run("const cell = document.querySelector(arguments[0]); cell.focus(); cell.select()", cell)
    browser.type(cell, "0.25" + ENTER)
    host.until(lambda: host.call("backplane.get", {"path": "main.gravity_law.softening"})["value"] == 0.25, "what was typed does not arrive")
    browser.run("const cell = document.querySelector(arguments[0]); cell.focus(); cell.select()", cell)
    browser.type(cell, "-1" + ENTER)
    browser.until("return document.querySelector('.refusal')?.textContent.includes('at least 0')")
    page.look("world_itself")
    browser.keys(ESCAPE)
    host.call("world.remove_resources", {"resource": "gravity_law"})
    browser.until("return document.querySelector('.own').hidden")


def draws_curves_and_tables(page):
    browser = page.browser
    page.select("earth")
    browser.click("[aria-label='curve of position']")
    browser.until("return document.querySelector('.middle').innerText.includes('earth position.x')")
    ink = """const canvas = document.querySelector('.middle canvas');
             const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
             let set = 0; for (let i = 3; i < data.length; i += 4) set += data[i] > 0; return set;"""
    before = browser.run(ink)
    browser.until(f"return (() => {{ {ink} }})() > arguments[0] + 200", before)
    page.look("curves")
    browser.keys("3")
    browser.until("return document.querySelector('.systems').innerText.includes('gravity')")
    browser.run("document.querySelector('[data-unit=gravity] .touches summary').click()")
    said = browser.run("return document.querySelector('[data-unit=gravity] .touches').innerText")
    check("reads" in said and "point_mass.mass" in said and "writes" in said, f"gravity touches {said}")
    page.look("systems")
    browser.keys("4")
    browser.until("return document.querySelector('.plugin-list').innerText.includes('point_mass')")
    page.look("plugins")
    browser.keys("1", "t")
    browser.until("return document.documentElement.dataset.theme === 'light'")
    browser.run("document.querySelectorAll('.middle button').forEach((button) => button.textContent === '3D' && button.click())")
    page.look("light_and_3d")
    browser.resize(1024, 768)
    page.look("narrow")
    browser.resize(1280, 900)


def goes_back(page):
    browser, host = page.browser, page.host
    browser.until("return document.querySelector('.timeline') && !document.querySelector('.timeline').hidden")
    line = "const line = document.querySelector('.timeline input');"
    host.until(lambda: host.steps() > 2000, "the solar system takes no steps")
    earth = lambda: host.call("backplane.get", {"path": "main/earth.body.position"})["value"]  # noqa: E731

    def drag(step):
        browser.run(line + "line.value = arguments[0]; line.dispatchEvent(new Event('input'))", step)
        host.until(lambda: host.steps() == step, f"step {step} is not gone to")
        return earth()
    there = drag(1000)
    check(host.call("backplane.worlds")[0]["paused"], "the world runs on in its past")
    last = host.call("backplane.history")["last"]
    check(drag(1600) != there and drag(1000) == there, "the past is another one")
    browser.until("return document.querySelector('.clock').textContent.includes('step 1,000')")
    check(host.call("backplane.history")["last"] == last, "looking at the past has changed it")
    page.look("time_line")
    browser.run("document.activeElement.blur()")
    browser.keys(SPACE)
    host.until(lambda: host.steps() > 1000, "the world does not go on from its past")


def sees_a_reload_and_a_crash(browser, build, pictures):
    folder = tempfile.mkdtemp(prefix="page-")
    build_spin(folder)
    # Untried, so that the version that crashes comes in, and without a version before that could come back.
    ini = SPIN.replace("hot_reload = on", "hot_reload = on\ntrial = off\nprobation = 0") % (build + "/plugins")
    with Host(build, ini, folder, status=1) as host:  # a crash is an error in its log
        page = Page(browser, host, pictures)
        browser.run("window.same = true")
        browser.until("return document.querySelectorAll('.entities .row').length === 10")
        browser.run("document.querySelector('.entities .row').click()")
        browser.until("return document.querySelector(\"[aria-label='spin.angle']\") !== null")
        build_spin(folder, ("struct spin { float *angle; ", "struct spin { float *extra, *angle; "),
                   ("fields[] = {", "fields[] = {\n    {BP_FIELD_OF(struct spin, extra), .initial = \"7\", .doc = \"new\"},"))
        browser.until("return document.querySelector(\"[aria-label='spin.extra']\")?.value === '7'")
        check(browser.run("return window.same") is True, "the page was loaded anew")
        page.look("new_field")
        browser.keys("4")
        told = browser.until("return document.querySelector('.reloads details[open] pre')?.innerText")
        check("extra" in told, f"the reload is told as {told}")
        page.look("reloads")
        browser.keys("1")
        build_spin(folder, ("    float dt = ", "    *(volatile int *)1 = 1;\n    float dt = "))
        browser.keys("4")
        browser.until("return document.querySelector('.card.crashed pre')?.textContent.includes('spin')")
        page.look("crash")
        host.call("backplane.worlds")
    browser.until("return document.querySelector('.bar').innerText.includes('not connected')")
    browser.picture(os.path.join(pictures, "host_has_ended.png"))
    browser.complaints()
    shutil.rmtree(folder)


def draws_a_million_sprites(browser, build, pictures):
    """Bubbles with all its sprites: the page is there at once, scrolls to the last, draws some of the points, and the
    world keeps its pace meanwhile."""
    folder = tempfile.mkdtemp(prefix="page-")
    with Host(build, config(build, "bubbles", folder), folder) as host:
        page = Page(browser, host, pictures)
        browser.until("return document.querySelectorAll('.entities .row').length > 10")
        browser.until("return document.querySelector('.entities').innerText.includes('1,000,020')")
        browser.until("return /(9[3-9],\\d\\d\\d|100,000) points of 1,000,020/.test(document.querySelector('.middle').innerText)")
        browser.run("const list = document.querySelector('.entities .virtual');"
                    "list.scrollTop = list.scrollHeight")
        browser.until("return document.querySelector('.entities').innerText.includes('#1000019:1')")
        browser.run("document.querySelector('.entities .row').click()")
        browser.until("return document.querySelector('.right').innerText.includes('sprite')")
        host.must_step()
        page.look("million")
        # Moving the camera thins the points where drawing is slow; a wrong stride would be told by the browser's console.
        browser.run("""const layers = document.querySelectorAll('.middle canvas'), top = layers[layers.length - 1];
            return new Promise((done) => { let n = 0; const turn = () => {
                top.dispatchEvent(new WheelEvent('wheel', {deltaY: n % 2 ? 20 : -20, clientX: 600, clientY: 450, bubbles: true}));
                n++ < 40 ? requestAnimationFrame(turn) : setTimeout(() => done(n), 400); }; turn(); });""")
        page.look("million_moved")
        heap = browser.run("return performance.memory.usedJSHeapSize")
        check(heap < 100e6, f"the page holds {heap} bytes")
        browser.open("about:blank")
    shutil.rmtree(folder)


def explains_an_empty_world(browser, build, pictures):
    with Host(build, EMPTY % (build + "/plugins")) as host:
        page = Page(browser, host, pictures)
        browser.until("return document.querySelector('.entities .empty').innerText.includes('no entities')")
        page.look("empty_world")
        browser.open("about:blank")


def main():
    build = os.path.abspath(sys.argv[1])
    pictures = os.path.join(build, "browser")
    shutil.rmtree(pictures, ignore_errors=True)
    os.makedirs(pictures)
    folder = tempfile.mkdtemp(prefix="page-")
    with Browser(folder, 1280, 900) as browser:
        with Host(build, config(build, "solar_system", folder, steps="history = 64 MiB")) as host:
            page = Page(browser, host, pictures)
            for test in [looks_at_the_solar_system, searches, edits, goes_by_keyboard, draws_curves_and_tables, goes_back,
                         shows_the_world_itself]:
                test(page)
                print("passed:", test.__name__)
            browser.open("about:blank")
        for test in [draws_a_million_sprites, sees_a_reload_and_a_crash, explains_an_empty_world]:
            test(browser, build, pictures)
            print("passed:", test.__name__)
    shutil.rmtree(folder, ignore_errors=True)
    print("pictures:", pictures)


main()

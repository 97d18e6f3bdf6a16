"""own.py BUILD - the components of a world itself, by the methods that the page uses: seen in the stream, read, set,
refused.
"""
import shutil
import sys
import tempfile

from host import Host, Refused, config
from spin import check


def refused(host, method, params, word):
    try:
        host.call(method, params)
    except Refused as why:
        check(word in why.message, f"{method} is refused with: {why.message}")
        return
    raise AssertionError(f"{method} {params} is taken")


def world_of(host):
    return host.call("backplane.worlds")[0]


def softening(host):
    return host.call("world.get_resources", {"resource": "gravity_law"})["value"]["softening"]


def main():
    build = sys.argv[1]
    folder = tempfile.mkdtemp(prefix="inspector-")
    with Host(build, config(build, "solar_system", folder), folder) as host:
        check("own" not in world_of(host), "a world without components of its own has an entity for them")
        entities = world_of(host)["entities"]
        host.call("world.insert_resources", {"resource": "gravity_law", "value": {"softening": 0.5}})
        own = world_of(host)["own"]
        told = host.events("backplane.watch+watch", {"every_ms": 20, "entity": own})
        event = next(told)
        check(event["worlds"][0]["own"] == own, "the stream does not tell of the world itself")
        check([c["type"] for c in event["entity"]["components"]] == ["gravity_law"], str(event["entity"]))
        check(event["entity"]["components"][0]["values"]["softening"] == 0.5, str(event["entity"]))

        change = {"entity": own, "component": "gravity_law", "path": ".softening"}
        host.call("world.mutate_components", {**change, "value": 0.25})
        check(softening(host) == 0.25, "what is set does not arrive")
        event = next(event for event in told if "entity" in event)
        check(event["entity"]["components"][0]["values"]["softening"] == 0.25, "the stream does not tell what was set")
        refused(host, "world.mutate_components", {**change, "value": -1}, "at least 0")
        refused(host, "world.despawn_entity", {"entity": own}, "world itself")
        refused(host, "world.insert_components", {"entity": own, "components": {"point_mass": {}}}, "belongs to entities")
        refused(host, "world.remove_components", {"entity": own, "components": ["gravity_law"]}, "belongs to world")
        check(softening(host) == 0.25 and world_of(host)["entities"] == entities, "what was refused has changed something")

        host.call("world.remove_resources", {"resource": "gravity_law"})
        check("own" not in world_of(host), "the world still has components of its own")
        refused(host, "backplane.entity", {"entity": own}, "dead")
        host.must_step()
    shutil.rmtree(folder)


main()

#!/usr/bin/env python3
"""relapses.py - do the tests notice it when a fault that was once mended comes back?

Each relapse below puts one such fault back into a copy of the tree (build/relapses), builds what changed, and runs the one test
that stands for it, which has to fail; without the fault it has to pass. The faults are those that small programs showed in the
contract before ABI 2, whose sources those programs no longer fit. A relapse whose place is not found ends the run: after a
change of that place the fault has to be written here anew.

    tools/proof/relapses.py [NAME...]
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COPY = os.path.join(ROOT, "build", "relapses")

# What is wrong again; file; what stands there; what stood there; suite and test that notice, or a script of tests/scripts.
RELAPSES = {
    "bound_by_number": (
        "a system gets the columns of a component by their numbers and not by their names",
        "host/plugin/terms.c",
        "places[i] = (uint16_t)(at == BP_NONE ? TERM_ABSENT : at);",
        "places[i] = (uint16_t)(at == BP_NONE ? TERM_ABSENT : i);",
        ("terms", "random_terms_are_bound_or_refused_as_the_names_say")),
    "bound_by_number_on_reload": (
        "the same, where the component is reloaded",
        "host/plugin/terms.c",
        "places[i] = (uint16_t)(at == BP_NONE ? TERM_ABSENT : at);",
        "places[i] = (uint16_t)(at == BP_NONE ? TERM_ABSENT : i);",
        ("reload_terms", "fresh_or_reloaded_terms_are_bound_to_what_names_say")),
    "slots_into_the_column": (
        "a `create` verb writes slots to the column itself, which moves when the verb creates entities too",
        "host/store/store.c",
        "entities, count, NULL, slots);\n        if (*result != BP_OK)\n            break;\n"
        "        world_note_slots(world, manager, slots, count);\n"
        "        put_slots(world, run, at, entities, slots, count);\n",
        "entities, count, NULL,\n"
        "                              (uint32_t *)run->columns[p->items[p->items[at].base].columns] + run->count - count);\n"
        "        if (*result != BP_OK)\n            break;\n"
        "        world_note_slots(world, manager, slots, 0);\n"
        "        put_slots(world, run, at, entities, slots, 0);\n",
        ("store", "a_manager_may_create_entities_of_the_same_kind_while_it_creates")),
    "no_pause": (
        "a thread of a plugin goes on while its state goes over to the next version",
        "host/plugin/loader.c",
        "    if (plugin->desc.pause == NULL)\n",
        "    if (plugin->desc.pause == NULL || reason != BP_PAUSE_UNLOAD)\n",
        ("pause", "the_thread_of_a_state_that_goes_over_stands_still_during_the_change")),
    "moving_account": (
        "a thread that allocates during a reload finds the account that the exchange swaps",
        "host/plugin/plugin.c",
        "if (changing == 0 || changing == os_thread_number())",
        "if (changing == 0 || changing != 0)",
        ("reload_threads", "a_thread_that_allocates_during_reloads_leaves_the_accounts_right")),
    "stubs_succeed": (
        "an entry of a table whose plugin has gone answers BP_OK",
        "host/plugin/slots_system.c",
        "if (slot->returns[i] != 'r')",
        "if (slot->returns[i] != '\\0')",
        ("host", "a_table_of_a_plugin_that_has_gone_says_so_and_works_again_when_it_is_back")),
    "newer_headers_refused": (
        "a plugin of newer headers is refused though it needs nothing new",
        "host/plugin/descriptor.c",
        "if (desc->least_minor > BP_ABI_MINOR)",
        "if (desc->least_minor > BP_ABI_MINOR || head->abi_minor > BP_ABI_MINOR)",
        "abi"),
    "old_layout_after_rollback": (
        "a version that comes back keeps the number of the other one's layout, by which cells of that one are found",
        "host/reload/probation.c",
        "            w->layout = ++*change->reload->layouts;\n",
        "            w->layout = w->world->layout;\n",
        ("rollback", "names_mean_the_fields_of_the_version_that_came_back")),
}


def run(command):
    return subprocess.run(command, cwd=COPY, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)


def build():
    built = run("make -s -j2 built test-parts")
    if built.returncode != 0:
        sys.exit("relapses: the copy cannot be built:\n" + built.stdout[-3000:])


def fails(test):
    """Does the test of a relapse fail in the copy as it is built now?"""
    if isinstance(test, str):
        return run("sh tests/scripts/%s.sh build" % test).returncode != 0
    suite, name = test
    done = run("CK_RUN_SUITE=%s CK_TIMEOUT_MULTIPLIER=5 build/tests" % suite)
    if "Checks: 0," in done.stdout or "%:" not in done.stdout:
        sys.exit("relapses: suite %s did not run:\n%s" % (suite, done.stdout[-2000:]))
    return any(":%s:" % name in line for line in done.stdout.splitlines())


def main():
    wanted = sys.argv[1:] or list(RELAPSES)
    for name in wanted:
        if name not in RELAPSES:
            sys.exit("relapses: there is no '%s', but %s" % (name, ", ".join(RELAPSES)))
    os.makedirs(COPY, exist_ok=True)
    subprocess.run("git ls-files -z | xargs -0 cp --parents -u -t '%s'; mkdir -p '%s/build/scratch'" % (COPY, COPY),
                   cwd=ROOT, shell=True, check=True)
    build()
    unnoticed = 0
    for name in wanted:
        what, file, is_now, was, test = RELAPSES[name]
        path = os.path.join(COPY, file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        if text.count(is_now) != 1:
            sys.exit("relapses: %s: '%s' stands in %s %d times" % (name, is_now, file, text.count(is_now)))
        if fails(test):
            sys.exit("relapses: %s: its test fails without it" % name)
        try:
            with open(path, "w", encoding="utf-8") as source:
                source.write(text.replace(is_now, was))
            build()
            noticed = fails(test)
        finally:
            with open(path, "w", encoding="utf-8") as source:
                source.write(text)
        build()
        unnoticed += not noticed
        print("%-8s %s: %s" % ("noticed" if noticed else "UNNOTICED", name, what), flush=True)
    sys.exit(unnoticed > 0)


if __name__ == "__main__":
    main()

"""schema.py SCHEMA CASES PROGRAM SCRATCH [--ini INI] SCENE ... - what schema.sh asks of the schema.

The schema is that of INI where it is given. Every SCENE must be valid and compile. CASES is a list of [valid, compiles, scene]: the validator must say the one and the
compiler the other.
"""
import json
import os
import subprocess
import sys

import jsonschema

schema_path, cases_path, program, scratch, *shipped = sys.argv[1:]
options = shipped[:2] if shipped[:1] == ["--ini"] else []
shipped = shipped[len(options):]
with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failures = 0


def complain(text):
    global failures
    failures += 1
    print("schema:", text)


def compile_scene(path):
    done = subprocess.run([program, "compile", path, "-o", os.path.join(scratch, "scene.bpe")] + options, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode == 0, done.stderr.strip()


for path in shipped:
    with open(path, encoding="utf-8") as file:
        scene = json.load(file)
    for error in validator.iter_errors(scene):
        complain("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)), error.message))
    compiles, why = compile_scene(path)
    if not compiles:
        complain("%s does not compile: %s" % (path, why))

with open(cases_path, encoding="utf-8") as file:
    cases = json.load(file)
for valid, compiles, scene in cases:
    path = os.path.join(scratch, "case.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file)
    is_valid = validator.is_valid(scene)
    does_compile, why = compile_scene(path)
    if is_valid != valid or does_compile != compiles:
        complain("%s is %s and %s" % (json.dumps(scene), "valid" if is_valid else "not valid",
                                      "compiles" if does_compile else "does not compile: " + why))

print("%d scenes that ship, %d cases" % (len(shipped), len(cases)))
sys.exit(failures > 0 or not (shipped or options) or not cases)

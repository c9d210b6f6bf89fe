#!/bin/sh
# Runs an integration's quick tests in an environment of its own:
#   integrations/compat.sh NAME PROJECT REQUIREMENT...
# NAME is the environment's, PROJECT the folder under integrations/, the requirements pin the framework.
# PYTHON is the interpreter; COMPAT the folder for the environments.
set -eu
name=$1 project=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
venv=${COMPAT:-$root/.compat}/$name
test -x "$venv/bin/python" || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install --quiet \
    --editable "$root" --editable "$root/integrations/$project" pytest pytest-asyncio hypothesis "$@"
cd "$root"
echo "== $name: $("$venv/bin/python" -m pip list 2>/dev/null | grep -iE '^(llama-index-core|langchain|langchain-core|langgraph) ' | tr -s ' ' '=' | tr '\n' ' ')"
"$venv/bin/python" -m pytest -q -p no:cacheprovider -m "not slow" "integrations/$project/tests"

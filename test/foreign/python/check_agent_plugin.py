"""Reads a folder as a plugin of the Agent Plugins Specification 1.0.0, with a reader that is not ours.

usage: check_agent_plugin.py FOLDER
Prints one JSON object: what it reads, and what it finds wrong; an error that makes it refuse the folder is among these.
"""

import json
import sys

import agent_plugins

plugin = agent_plugins.Plugin(sys.argv[1])
found = {"issues": []}
try:
    found["name"] = plugin.manifest.name
    found["version"] = plugin.manifest.version
    found["skills"] = [skill.name for skill in plugin.skills]
    found["servers"] = {name: server.url for name, server in plugin.mcp.servers.items()}
    found["headers"] = [dict(server.headers) for server in plugin.mcp.servers.values()]
    found["issues"] += [str(issue) for part in (plugin.manifest, plugin.mcp) for issue in part.issues]
except agent_plugins.AgentPluginError as error:
    found["issues"].append(str(error))
json.dump(found, sys.stdout)

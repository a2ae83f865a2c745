"""Calls the services over gRPC with stubs generated from the repository's own .proto files.

usage: grpc_caller.py ADDRESS PROTO_FOLDER STUBS_FOLDER   (the API key on standard input)
Prints one JSON object.
"""

import importlib
import json
import pathlib
import sys

import grpc
from google.protobuf.json_format import MessageToDict
from grpc_tools import protoc


def generate(protos: pathlib.Path, stubs: pathlib.Path) -> None:
    # Stubs of grpc's own services would hide the grpc package itself.
    files = [str(p.relative_to(protos)) for p in protos.rglob("*.proto") if p.relative_to(protos).parts[0] not in ("gen", "grpc")]
    include = importlib.resources.files("grpc_tools") / "_proto"
    arguments = ["protoc", f"-I{protos}", f"-I{include}", f"--python_out={stubs}", f"--grpc_python_out={stubs}", *files]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed")
    # Regular packages, or an installed package of the same name (mcp) would win.
    for folder in stubs.rglob("*/"):
        (folder / "__init__.py").touch()
    sys.path.insert(0, str(stubs))


def main() -> None:
    address, protos, stubs = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    key = sys.stdin.read().strip()
    generate(protos, stubs)
    keys = importlib.import_module("auth.v1.api_key_service_pb2")
    keys_grpc = importlib.import_module("auth.v1.api_key_service_pb2_grpc")
    agents = importlib.import_module("core.v1.agent_service_pb2")
    agents_grpc = importlib.import_module("core.v1.agent_service_pb2_grpc")
    with grpc.insecure_channel(address) as channel:
        metadata = [("authorization", f"Bearer {key}")]
        who = keys_grpc.ApiKeyServiceStub(channel).WhoAmI(keys.WhoAmIRequest(), metadata=metadata, timeout=10)
        listed = agents_grpc.AgentServiceStub(channel).ListAgents(
            agents.ListAgentsRequest(), metadata=metadata, timeout=10
        )
        try:
            keys_grpc.ApiKeyServiceStub(channel).WhoAmI(keys.WhoAmIRequest(), timeout=10)
            refused = "OK"
        except grpc.RpcError as error:
            refused = error.code().name
        try:
            agents_grpc.AgentServiceStub(channel).ListAgents(
                agents.ListAgentsRequest(page_size=1000), metadata=metadata, timeout=10
            )
            broken = "OK"
        except grpc.RpcError as error:
            broken = error.code().name
    print(json.dumps({"who": MessageToDict(who), "agents": len(listed.agents), "without_key": refused, "broken_rule": broken}))


main()

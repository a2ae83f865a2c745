"""Lists agents page by page, creates an agent once, shows two refusals, and reads a stream."""

import os
import uuid
from urllib.parse import urlsplit

import grpc

from sallyport.aev.v1 import scenario_service_pb2, scenario_service_pb2_grpc
from sallyport.core.v1 import agent_service_pb2, agent_service_pb2_grpc


# [connect]
def connect(url: str) -> grpc.Channel:
    parts = urlsplit(url)
    if parts.scheme == "https":
        return grpc.secure_channel(parts.netloc, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(parts.netloc)  # no TLS: only on the same machine


def headers(key: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {key}")]


# [pages]
def all_agents(stub, key: str):
    token = ""
    while True:
        request = agent_service_pb2.ListAgentsRequest(page_size=2, page_token=token)
        page = stub.ListAgents(request, metadata=headers(key), timeout=10)
        yield from page.agents
        token = page.next_page_token
        if not token:
            return


# [once]
def made_once(stub, key: str, name: str, request_id: str):
    request = agent_service_pb2.CreateAgentRequest(name=name, request_id=request_id)
    return stub.CreateAgent(request, metadata=headers(key), timeout=10).agent


# [errors]
def refusal(stub, key: str, **request) -> str:
    try:
        stub.ListAgents(agent_service_pb2.ListAgentsRequest(**request), metadata=headers(key), timeout=10)
        return "OK"
    except grpc.RpcError as error:
        return f"{error.code().name} {error.details()}"


# [stream]
def launch(channel: grpc.Channel, key: str, scenario_id: str) -> str:
    stub = scenario_service_pb2_grpc.ScenarioServiceStub(channel)
    request = scenario_service_pb2.LaunchScenarioRequest(scenario_id=scenario_id)
    events = stub.LaunchScenario(request, metadata=headers(key), timeout=60)
    for event in events:
        events.cancel()  # or continue until the event is a result
        return event.WhichOneof("event")
    return "nothing"


# [end]
def main() -> None:
    key = os.environ["SERVICE_API_KEY"]
    with connect(os.environ["SALLYPORT_GRPC_URL"]) as channel:
        stub = agent_service_pb2_grpc.AgentServiceStub(channel)
        print("agents", len(list(all_agents(stub, key))))
        request_id = str(uuid.uuid4())
        first, again = (made_once(stub, key, "From Python", request_id) for _ in range(2))
        print("created once", str(first.id == again.id).lower())
        stub.DeleteAgent(agent_service_pb2.DeleteAgentRequest(agent_id=first.id), metadata=headers(key), timeout=10)
        print("refused", refusal(stub, key, page_size=1000))
        print("wrong key", refusal(stub, "nothing"))
        # Launching runs real attacks: only if SCENARIO_ID names a scenario.
        if scenario := os.environ.get("SCENARIO_ID"):
            print("stream", launch(channel, key, scenario))


if __name__ == "__main__":
    main()

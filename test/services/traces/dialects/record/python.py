import os, sys
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_only"
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
url = os.environ["MODEL_URL"]
which = sys.argv[1]


def look_up(host: str) -> str:
    """Looks a host up."""
    return "a host"


def raw():
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="none")
    messages = [{"role": "user", "content": "Is web-1 safe?"}]
    parameters = {"type": "object", "properties": {"host": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "look_up", "description": "d", "parameters": parameters}}]
    first = client.chat.completions.create(model="large", messages=messages, tools=tools)
    messages += [first.choices[0].message, {"role": "tool", "tool_call_id": "call_1", "content": "a host"}]
    client.chat.completions.create(model="large", messages=messages, tools=tools)


def graph():
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langchain.agents import create_agent

    agent = create_agent(ChatOpenAI(model="large", base_url=url, api_key="none"), [tool(look_up)], name="triage-bot")
    agent.invoke({"messages": [("user", "Is web-1 safe?")]})


if which == "pydantic-ai":
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    Agent.instrument_all()
    model = OpenAIChatModel("large", provider=OpenAIProvider(base_url=url, api_key="none"))
    Agent(model, name="triage-bot", tools=[look_up]).run_sync("Is web-1 safe?")
elif which == "official":
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    raw()
elif which == "traceloop":
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    raw()
elif which == "traceloop-langgraph":
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    LangchainInstrumentor().instrument()
    graph()
elif which == "openinference-langgraph":
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument()
    graph()
elif which == "langsmith":
    os.environ["LANGSMITH_TRACING"] = "true"
    os.environ["LANGSMITH_OTEL_ENABLED"] = "true"
    os.environ["LANGSMITH_OTEL_ONLY"] = "true"
    os.environ["LANGSMITH_API_KEY"] = "none"
    os.environ["LANGSMITH_ENDPOINT"] = url
    graph()
    from langsmith import Client
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
provider.force_flush()
provider.shutdown()

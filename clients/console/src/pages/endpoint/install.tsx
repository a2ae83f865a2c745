import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData, useQuery as useAnyQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EndpointService } from "#api/catalogue/v1/endpoint_service_pb";
import { CONNECTORS, type Connector, entryOf, MCP_CLIENTS, type McpClient } from "../../../../packages/mcp-clients";
import { SETTINGS } from "../../service/settings";
import { sentenceOf } from "../../service/transport";
import { Choice } from "../../ui/choice";
import { Connecting } from "./connecting";
import { Fragment } from "./fragment";
import { type Narrowed, ToolChoice, WHOLE } from "./narrowing";
import type { Server } from "./server";

const BASIC = "basic";
const KNOWN: readonly (McpClient | Connector)[] = [...MCP_CLIENTS, ...CONNECTORS];
const CLIENTS = KNOWN.map(({ name, title }) => ({ id: name, name: title }));
const clientOf = (name: string): McpClient | Connector =>
  KNOWN.find((one) => one.name === name) ?? (KNOWN[0] as McpClient);

/** What is suited to a client: the basic tools where its model is sent the whole list with every turn. */
function suitedTo({ sends }: Pick<McpClient, "sends">): Narrowed {
  return sends === "all" ? { ...WHOLE, toolsets: [BASIC] } : WHOLE;
}

/** The configuration of a client, with a URL that the person narrows, and what the list costs. */
export function Install({ servers, onCopied }: { servers: readonly Server[]; onCopied: () => void }) {
  const [clientName, setClient] = useState("claude-code");
  const [serverName, setServer] = useState(servers[0]?.endpoint.server ?? "");
  const client = clientOf(clientName);
  const [narrowed, setNarrowed] = useState<Narrowed>(suitedTo(client));
  const server = servers.find(({ endpoint }) => endpoint.server === serverName) ?? (servers[0] as Server);
  const request = { server: server.endpoint.server, ...narrowed, toolsets: [...narrowed.toolsets] };
  const cost = useQuery(EndpointService.method.measureEndpoint, request, { placeholderData: keepPreviousData });
  const url = `${server.url}${cost.data?.query ?? ""}`;
  const entry = { ...entryOf("", server.endpoint.server), url };
  const variable = useAnyQuery(SETTINGS).data?.api_key_variable;

  return (
    <section className="panel install" aria-labelledby="install">
      <div className="head">
        <div>
          <h2 id="install">Add to a client</h2>
          <p>Choose your client, and what it lists. The key is in no fragment and in no link.</p>
        </div>
      </div>
      <div className="choices">
        <Choice
          label="Client"
          value={clientName}
          items={CLIENTS}
          onChange={(name) => {
            setClient(name);
            setNarrowed(suitedTo(clientOf(name)));
          }}
        />
        <Choice
          label="Server"
          value={server.endpoint.server}
          items={servers.map(({ endpoint }) => ({
            id: endpoint.server,
            name: `${endpoint.server}: ${endpoint.title}`,
          }))}
          onChange={(name) => {
            setServer(name);
            setNarrowed(suitedTo(client));
          }}
        />
      </div>
      <ToolChoice
        id="toolsets"
        onlyReading="Only tools that read"
        endpoint={server.endpoint}
        value={narrowed}
        onChange={setNarrowed}
      />
      <p className="cost" role="status">
        {cost.error ? sentenceOf(cost.error) : cost.data && costInWords(client, cost.data)}
      </p>
      {"steps" in client ? (
        <Connecting connector={client} url={url} onCopied={onCopied} />
      ) : (
        variable && <Fragment client={client} entry={entry} variable={variable} onCopied={onCopied} />
      )}
    </section>
  );
}

function costInWords(
  { sends, mostTools }: Pick<McpClient, "sends" | "mostTools">,
  { tools, tokens, namesTokens }: { tools: number; tokens: number; namesTokens: number },
): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  const about = (n: number): string => `about ${(Math.round(n / 100) * 100).toLocaleString("en")} tokens`;
  const over =
    mostTools !== undefined && tools > mostTools
      ? ` This client takes at most ${mostTools} tools: narrow the list.`
      : "";
  if (sends === "none") return `${count}.`;
  if (sends === "names")
    return `${count}; their names cost ${about(namesTokens)} with every turn, the whole list ${about(tokens)}.`;
  return `${count}; the list costs ${about(tokens)} with every turn.${over}`;
}

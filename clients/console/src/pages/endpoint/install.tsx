import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { Switch, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { EndpointService } from "#api/catalogue/v1/endpoint_service_pb";
import { entryOf, KEY_VARIABLE, MCP_CLIENTS, type McpClient } from "../../../../packages/mcp-clients";
import { sentenceOf } from "../../service/transport";
import { Choice } from "../../ui/choice";
import { Code } from "../../ui/code";
import { CopyButton } from "../../ui/copy";
import type { Server } from "./server";

const BASIC = "basic";
const CLIENTS = MCP_CLIENTS.map(({ name, title }) => ({ id: name, name: title }));

/** How the person narrows the list of a server. */
interface Narrowed {
  /** Names; none for all. */
  readonly toolsets: readonly string[];
  readonly readOnly: boolean;
  readonly tenant: string;
}

/** What is suited to a client: the basic tools where its model is sent the whole list with every turn. */
function suitedTo({ sends }: McpClient): Narrowed {
  return { toolsets: sends === "all" ? [BASIC] : [], readOnly: false, tenant: "" };
}

/** The configuration of a client, with a URL that the person narrows, and what the list costs. */
export function Install({ servers, onCopied }: { servers: readonly Server[]; onCopied: () => void }) {
  const [clientName, setClient] = useState("claude-code");
  const [serverName, setServer] = useState(servers[0]?.endpoint.server ?? "");
  const client = MCP_CLIENTS.find(({ name }) => name === clientName) as McpClient;
  const [narrowed, setNarrowed] = useState<Narrowed>(suitedTo(client));
  const server = servers.find(({ endpoint }) => endpoint.server === serverName) ?? (servers[0] as Server);
  const { toolsets, tenants } = server.endpoint;
  const request = { server: server.endpoint.server, ...narrowed, toolsets: [...narrowed.toolsets] };
  const cost = useQuery(EndpointService.method.measureEndpoint, request, { placeholderData: keepPreviousData });
  const url = `${server.url}${cost.data?.query ?? ""}`;
  const entry = { ...entryOf("", server.endpoint.server), url };
  const text = client.config([entry], { variable: KEY_VARIABLE });

  return (
    <section className="panel install" aria-labelledby="install">
      <div className="head">
        <div>
          <h2 id="install">Add to a client</h2>
          <p>Merge the fragment into the file that is named above it. The key stays in your environment.</p>
        </div>
      </div>
      <div className="choices">
        <Choice
          label="Client"
          value={clientName}
          items={CLIENTS}
          onChange={(name) => {
            setClient(name);
            setNarrowed(suitedTo(MCP_CLIENTS.find((one) => one.name === name) as McpClient));
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
        {tenants.length > 1 && (
          <Choice
            label="Tenant"
            value={narrowed.tenant || "any"}
            items={[{ id: "any", name: "Each call says which" }, ...tenants.map(({ id, name }) => ({ id, name }))]}
            onChange={(id) => setNarrowed({ ...narrowed, tenant: id === "any" ? "" : id })}
          />
        )}
      </div>
      <div className="toolsets">
        <span id="toolsets">Toolsets (all if none is chosen)</span>
        <ToggleButtonGroup
          aria-labelledby="toolsets"
          selectionMode="multiple"
          className="pills"
          selectedKeys={narrowed.toolsets}
          onSelectionChange={(keys) => setNarrowed({ ...narrowed, toolsets: [...keys].map(String) })}
        >
          {toolsets.map(({ name, tools }) => (
            <ToggleButton key={name} id={name} className="pill">
              {name} <small>{tools}</small>
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
        <Switch
          className="switch"
          isSelected={narrowed.readOnly}
          onChange={(readOnly) => setNarrowed({ ...narrowed, readOnly })}
        >
          <span className="track" />
          Only tools that read
        </Switch>
      </div>
      <p className="cost" role="status">
        {cost.error ? sentenceOf(cost.error) : cost.data && costInWords(client, cost.data)}
      </p>
      <div className="fragment">
        <div className="panel-bar">
          <span className="path">
            <code>{client.file}</code>
          </span>
          <CopyButton text={text} what={`${client.title} fragment`} label="Copy" onCopied={onCopied} />
        </div>
        <Code text={text} label={`${client.title} fragment`} />
        {client.note && <p className="note">{client.note}</p>}
      </div>
    </section>
  );
}

function costInWords(
  { sends, mostTools }: McpClient,
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

import { ABOUT, type Connector, type McpClient } from "../../../../packages/mcp-clients";

/** What to know of a client before one uses it. */
export function Notes({ client }: { client: McpClient | Connector }) {
  return (
    <dl className="notes" aria-label={`Notes on ${client.title}`}>
      {client.notes.map(({ about, text }) => (
        <div key={text}>
          <dt>{ABOUT[about]}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

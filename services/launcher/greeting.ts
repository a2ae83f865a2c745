import { resolve } from "node:path";
import { PLATFORM_SERVERS, SERVERS } from "../shared/platforms.js";
import type { Settings } from "./config.js";
import { bootstrapPath, readBootstrap } from "./first-start.js";
import type { Running } from "./start.js";

/** What a person reads once the service is ready: where it is, and the first time a key and a call to copy. */
export function greeting(
  { serviceName, dataDir }: Settings,
  { baseUrl, grpcUrl, metricsUrl, isFirst, coreSwitchedOn }: Running,
): string {
  const lines = [`${serviceName} is ready.`, "", `  MCP   ${baseUrl}/mcp/{${SERVERS.join()}}`, `  gRPC  ${grpcUrl}`];
  if (metricsUrl !== undefined) lines.push(`  Metrics  ${metricsUrl}`);
  if (coreSwitchedOn)
    lines.push(
      "",
      "  The first start has switched the core server on. To switch it off: npm run -s cli -- settings set core off",
    );
  const file = readBootstrap(dataDir);
  if (file === undefined) return `${lines.join("\n")}\n`;
  if (!isFirst) return `${[...lines, `  Keys  ${resolve(bootstrapPath(dataDir))}`].join("\n")}\n`;
  const { analyst } = file;
  const [server] = PLATFORM_SERVERS;
  const configuration = {
    mcpServers: {
      [`sallyport-${server}`]: {
        type: "http",
        url: `${baseUrl}/mcp/${server}`,
        headers: { Authorization: `Bearer ${analyst.api_key}` },
      },
    },
  };
  lines.push(
    "",
    `  An API key of ${analyst.email} (bootstrap.json in the data directory has more):`,
    "",
    `    ${analyst.api_key}`,
    "",
    "  A first call:",
    "",
    `    curl -s ${baseUrl}/mcp/${server} -H 'Authorization: Bearer ${analyst.api_key}' \\`,
    "      -H 'Content-Type: application/json' \\",
    `      -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami"}}'`,
    "",
    "  A client's configuration:",
    "",
    ...JSON.stringify(configuration, null, 2)
      .split("\n")
      .map((line) => `    ${line}`),
  );
  return `${lines.join("\n")}\n`;
}

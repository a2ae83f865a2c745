import type { Connector, Note } from "./client.js";

// Clients in the cloud of a vendor. They take a URL and no configuration, and call the service from outside.

const OAUTH: Note = {
  about: "sign-in",
  text: "It signs you in with OAuth, at the sign-in page of this service. It sends no header of yours, so an API key is of no use there.",
};

/** Claude as an application, in a browser and on a phone. */
export const claude: Connector = {
  name: "claude",
  title: "Claude: Desktop, web, mobile (custom connector)",
  sends: "all",
  steps: "In the settings of Claude, open Connectors, add a custom connector, paste the URL, and sign in.",
  notes: [
    {
      about: "reach",
      text: "Anthropic's cloud calls the service, also if you use Claude Desktop. The URL must be a public HTTPS URL.",
    },
    OAUTH,
    {
      about: "package",
      text: "If the service is not on the internet, use the package for Claude Desktop (.mcpb): it calls from your computer, with a key.",
    },
  ],
};

/** ChatGPT in developer mode. */
export const chatgpt: Connector = {
  name: "chatgpt",
  title: "ChatGPT (developer mode)",
  sends: "all",
  steps:
    "Switch on developer mode in the settings of ChatGPT, add a connector, paste the URL, choose OAuth, and sign in.",
  notes: [
    {
      about: "reach",
      text: "OpenAI's cloud calls the service. The URL must be a public HTTPS URL: localhost and addresses of your company's network do not work.",
    },
    OAUTH,
  ],
};

/** Names that no public DNS has (RFC 6761, RFC 6762, RFC 8375, and what companies use). */
const INTERNAL = /(?:^|\.)(?:localhost|local|internal|intranet|lan|corp|home|home\.arpa|test|invalid)$/;

/** Why the cloud of a vendor cannot call a URL; undefined if the URL alone does not show it. */
export function hindranceOf(url: string): string | undefined {
  const parsed = parsedUrl(url);
  if (parsed === undefined) return "this service has no URL";
  const { protocol, hostname } = parsed;
  const host = hostname.replace(/\.$/, "");
  if (isInternal(host)) return `${host} is not on the internet`;
  if (protocol !== "https:") return "the URL of this service is not HTTPS";
  return undefined;
}

// Not URL.canParse: once V8 has compiled a call of it, Node 20 reads the bytes of a Latin-1 text as UTF-8.
function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function isInternal(host: string): boolean {
  if (host.startsWith("[")) return isInternalIpv6(host.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isInternalIpv4(host);
  return !host.includes(".") || INTERNAL.test(host);
}

function isInternalIpv4(host: string): boolean {
  const [a = 0, b = 0] = host.split(".").map(Number);
  if (a === 100) return b >= 64 && b < 128;
  if (a === 172) return b >= 16 && b < 32;
  if (a === 169) return b === 254;
  if (a === 192) return b === 168;
  return a === 0 || a === 10 || a === 127 || a >= 224;
}

/** Public addresses are 2000::/3 (RFC 4291), but for those of documentation. */
function isInternalIpv6(host: string): boolean {
  return !/^[23][0-9a-f]{3}:/.test(host) || host.startsWith("2001:db8:");
}

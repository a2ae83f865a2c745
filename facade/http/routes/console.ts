import type { Endpoints } from "../../catalogue/endpoints.js";
import { acceptedEncodings } from "../encodings.js";
import type { HeaderList } from "../exchange.js";
import { jsonPage, type Page, type PageRequest, type Route } from "../route.js";

/** A file of the console, as it is built. */
export interface ConsoleFile {
  readonly type: string;
  readonly plain: Uint8Array;
  /** Compressed by Brotli (RFC 7932) and gzip; absent for what does not become shorter. */
  readonly br?: Uint8Array | undefined;
  readonly gzip?: Uint8Array | undefined;
}

/** The files of the console, by path below its own. */
export interface ConsoleFiles {
  /** The page, with addresses that begin with `./`. */
  readonly page: string;
  /** Files whose names change with what is in them. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

/** The console, and what it must know of the service before anybody signs in. */
export interface ConsoleOptions {
  readonly files: ConsoleFiles | undefined;
  readonly endpoints: Endpoints;
  readonly baseUrl: URL;
  /** The name that users see. */
  readonly serviceName: string;
  /** The environment variable that configurations of clients name. */
  readonly apiKeyVariable: string;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

/** No script, style or picture but ours; nobody frames the page, and texts do not become code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join("; ");

const SAFE: HeaderList = [
  "content-security-policy",
  POLICY,
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "same-origin",
  "cross-origin-opener-policy",
  "same-origin",
  "permissions-policy",
  "clipboard-write=(self), camera=(), microphone=(), geolocation=()",
];
const FOR_EVER = "public, max-age=31536000, immutable";

/** {base}/console/: the page at every address below, and its files. {base}/ and {base}/console lead there. */
export function consoleRoutes(options: ConsoleOptions): Route[] {
  const { files, endpoints, baseUrl, serviceName, apiKeyVariable, base } = options;
  if (files === undefined) return [];
  const root = `${base}/console/`;
  // The page is one, at whatever address: what it loads has addresses of its own.
  const page = files.page.replaceAll('="./', `="${root}`).replace(NAME, () => `content="${inHtml(serviceName)}"`);
  const settings = {
    base_url: `${baseUrl.origin}${base}`,
    service_name: serviceName,
    api_key_variable: apiKeyVariable,
    // Of two addresses the later is the one that the operator chose.
    endpoints: Object.fromEntries(endpoints.all.map(({ server, resource }) => [server, resource])),
  };
  const pageOf = (): Page => ({
    status: 200,
    headers: [...SAFE, "content-type", "text/html; charset=utf-8", "cache-control", "no-cache"],
    body: page,
  });
  return [
    { path: `${base}/`, methods: ["GET"], handle: () => ({ status: 302, headers: ["location", root] }) },
    { path: `${base}/console`, methods: ["GET"], handle: () => ({ status: 302, headers: ["location", root] }) },
    { path: root, methods: ["GET"], handle: pageOf },
    { path: `${root}*`, methods: ["GET"], handle: pageOf },
    { path: `${root}assets/*`, methods: ["GET"], handle: (request) => assetPage(files, request, root) },
    {
      path: `${root}config.json`,
      methods: ["GET"],
      handle: () => jsonPage(200, settings, [...SAFE, "content-type", "application/json", "cache-control", "no-store"]),
    },
  ];
}

/** Where the page has the service's name. */
const NAME = 'content="Sallyport"';

function inHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** What is not there any more is not the page: a stale tab learns that it must reload. */
function assetPage({ assets }: ConsoleFiles, { path, headers }: PageRequest<undefined>, root: string): Page {
  const file = assets.get(path.slice(root.length));
  if (file === undefined) return jsonPage(404, { error: "not_found", message: "Reload the console: it was updated." });
  const encoding = acceptedEncodings(headers["accept-encoding"]).find((one) => file[one] !== undefined);
  return {
    status: 200,
    headers: [
      ...SAFE,
      "content-type",
      file.type,
      "cache-control",
      FOR_EVER,
      "vary",
      "accept-encoding",
      ...(encoding === undefined ? [] : ["content-encoding", encoding]),
    ],
    body: (encoding && file[encoding]) ?? file.plain,
  };
}

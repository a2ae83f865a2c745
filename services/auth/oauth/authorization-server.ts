import type { IncomingMessage, ServerResponse } from "node:http";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Provider } from "oidc-provider";
import type {
  HandleHttpRequestSchema,
  HandleHttpResponseSchema,
} from "#proto/auth/v1/authorization_server_service_pb.js";
import { parsedUrl } from "../../shared/parsed-url.js";
import type { Log } from "../../shared/process/log.js";
import type { KeyRing } from "../key-ring.js";
import type { Browser } from "./browser-sign-in.js";
import { injected } from "./injected.js";
import type { Interactions } from "./interaction.js";
import { InteractionError } from "./interaction-error.js";
import { html } from "./pages/html.js";
import { type Site, sendPage } from "./pages/page.js";
import { STYLE, STYLE_PATH } from "./pages/style.js";
import { OAUTH } from "./paths.js";
import { Registrations, type Sender } from "./registrations.js";
import { sendError } from "./send-error.js";

/** What answers requests to {base}/oauth/*. */
export interface AuthorizationServer {
  handle(
    request: MessageShape<typeof HandleHttpRequestSchema>,
  ): Promise<MessageInitShape<typeof HandleHttpResponseSchema>>;
}

/** What it is made with. */
export interface AuthorizationServerOptions {
  /** The public base URL, without a last slash. */
  readonly issuer: URL;
  readonly ring: KeyRing;
  /** Makes the library's server for the keys that a ring has now. */
  readonly providerOf: (ring: KeyRing) => Promise<Provider>;
  readonly interactions: Interactions;
  readonly site: Site;
  readonly log: Log;
}

/** Makes the way from HTTP messages that the façade passes on to the library and to the pages. */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  return new Server(options);
}

class Server implements AuthorizationServer {
  readonly #base: string;
  readonly #registrations = new Registrations();
  #provider: Provider | undefined;
  #kids = "";

  constructor(private readonly options: AuthorizationServerOptions) {
    this.#base = options.issuer.pathname.replace(/\/$/, "");
  }

  async handle(
    message: MessageShape<typeof HandleHttpRequestSchema>,
  ): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
    return injected(this.options.issuer, message, (request, response) => this.#answer(request, response, message));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const { log } = this.options;
    try {
      await this.#route(request, response, sender);
    } catch (error) {
      const said = sentenceOf(error);
      if (said === undefined) log.error({ err: error }, "a page of the authorization server failed");
      if (response.headersSent) return void response.end();
      sendPage(response, this.options.site, {
        title: "This connection cannot go on",
        body: html`<p id="problem">${said ?? "The service failed to answer. Start again in the client; if it happens again, ask an administrator to read the log."}</p>`,
        status: said === undefined ? 500 : 400,
      });
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const { url = "/" } = request;
    const { origin } = this.options.issuer;
    const pathname = parsedUrl(url, origin)?.pathname;
    if (pathname === undefined) return notFound(response);
    const known = WELL_KNOWN.exec(pathname);
    if (known !== null) return this.#discover(request, response, known);
    const path = pathname.slice(this.#base.length);
    if (!pathname.startsWith(`${this.#base}${OAUTH}/`)) return notFound(response);
    if (path === STYLE_PATH) return sendStyle(response);
    const { cookie, "user-agent": userAgent = "" } = request.headers;
    const browser = { cookies: cookie, address: sender.address, userAgent };
    const uid = INTERACTION.exec(path)?.[1];
    if (uid !== undefined) return this.#interact(request, response, uid, browser);
    if (path === `${OAUTH}/register` && this.#registrations.answers(request, response, sender)) return;
    await this.#byLibrary(request, response, path);
  }

  /** Metadata is looked for at more addresses than the library knows (RFC 8414 section 3.1, and OpenID Connect Discovery 1.0). */
  #discover(
    request: IncomingMessage,
    response: ServerResponse,
    [, before = "", kind = "", after = ""]: RegExpExecArray,
  ) {
    const isOurs = before === "" ? after === this.#base : before === this.#base && after === "" && kind === OPENID;
    if (!isOurs) return notFound(response);
    return this.#byLibrary(request, response, `/.well-known/${kind}`);
  }

  async #interact(request: IncomingMessage, response: ServerResponse, uid: string, browser: Browser): Promise<void> {
    if (request.method !== "GET" && request.method !== "POST") return notFound(response);
    await this.options.interactions.handle({
      provider: await this.#current(),
      request,
      response,
      browser,
      uid,
      form: request.method === "POST" ? await formOf(request) : undefined,
    });
  }

  async #byLibrary(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { url: sent = "" } = request;
    const at = sent.indexOf("?");
    const query = at === -1 ? "" : sent.slice(at);
    // The library reads each parameter by a walk over all: 8,000 of them take a second.
    if (query.split("&", MAX_PARAMETERS + 1).length > MAX_PARAMETERS) throw new InteractionError(TOO_MANY);
    const url = `${path}${query}`;
    // What is before the path in originalUrl, the library puts before the URLs that it writes.
    (request as { originalUrl?: string }).originalUrl = `${this.#base}${url}`;
    request.url = url;
    const provider = await this.#current();
    await provider.callback()(request, response);
  }

  /** The library reads its keys once: it is made again when the ring has others, or another one signs. */
  async #current(): Promise<Provider> {
    const { ring, providerOf } = this.options;
    const [{ kid: signs }, { keys }] = await Promise.all([ring.signer(), ring.jwks()]);
    const kids = [signs, ...keys.map(({ kid }) => kid)].join();
    if (this.#provider === undefined || kids !== this.#kids) {
      this.#provider = await providerOf(ring);
      this.#kids = kids;
    }
    return this.#provider;
  }
}

const OPENID = "openid-configuration";
const WELL_KNOWN = /^(.*)\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/.*)?$/;
const INTERACTION = /^\/oauth\/interaction\/([\w-]{21,64})$/;
/** Parameters of one request; clients send about twenty. */
const MAX_PARAMETERS = 100;
const TOO_MANY = `The address has more than ${MAX_PARAMETERS} parameters. Start again in the client; if it happens again, its maker can mend it.`;
/** Longest form, in bytes. */
const MAX_FORM = 16_384;

/** What a person is told; undefined for what only the log may say. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof InteractionError) return error.message;
  const isOver = (error as Error | undefined)?.name === "SessionNotFound";
  return isOver ? "This page has expired, or it was opened in another browser. Start again in the client." : undefined;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > MAX_FORM) throw new InteractionError("The form is too long. Start again in the client.");
    pieces.push(piece);
  }
  return new URLSearchParams(Buffer.concat(pieces).toString());
}

function notFound(response: ServerResponse): void {
  sendError(response, 404, "not_found", "There is nothing at this address: check the URL.");
}

function sendStyle(response: ServerResponse): void {
  response
    .writeHead(200, { "content-type": "text/css; charset=utf-8", "cache-control": "public, max-age=3600" })
    .end(STYLE);
}

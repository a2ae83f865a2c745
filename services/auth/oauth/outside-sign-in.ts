import type { IncomingMessage, ServerResponse } from "node:http";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  HandleHttpRequestSchema,
  HandleHttpResponseSchema,
} from "#proto/auth/v1/authorization_server_service_pb.js";
import type { Federation, RefusedSignIn } from "../federation/federation.js";
import type { Browser, BrowserSignIn } from "./browser-sign-in.js";
import { injected } from "./injected.js";
import { notSignedInPage } from "./pages/not-signed-in.js";
import { type Site, sendPage } from "./pages/page.js";
import { OAUTH } from "./paths.js";
import { sendError } from "./send-error.js";

/** What the addresses of sign-ins at other providers need. */
export interface OutsideSignInOptions {
  readonly federation: Federation;
  readonly signIn: Pick<BrowserSignIn, "fromOutside">;
  readonly site: Site;
  /** The public base URL. */
  readonly issuer: URL;
}

const FEDERATION = /^\/oauth\/federation\/([a-z0-9-]{1,32})(\/callback)?$/;

/** The address that begins a sign-in at a provider, and comes back to a page. @param again whether the provider must ask who the person is. */
export function outsideHref({ base }: Site, id: string, returnTo: string, again: boolean): string {
  const query = new URLSearchParams({ return_to: returnTo, ...(again && { again: "yes" }) });
  return `${base}${OAUTH}/federation/${id}?${query}`;
}

/** Sends browsers to other providers, and takes back whom these signed in. */
export class OutsideSignIn {
  constructor(private readonly options: OutsideSignInOptions) {}

  /** Whether an address is one of a sign-in at a provider. */
  isAt(target: string): boolean {
    return this.partsOf(target) !== null;
  }

  handle(
    message: MessageShape<typeof HandleHttpRequestSchema>,
  ): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
    return injected(this.options.issuer, message, (request, response) => {
      const { cookie, "user-agent": userAgent = "" } = request.headers;
      const browser = { cookies: cookie, address: message.address, userAgent };
      return this.answer(request, response, browser);
    });
  }

  private partsOf(target: string): RegExpExecArray | null {
    const [path = ""] = target.split("?", 1);
    const { base } = this.options.site;
    return path.startsWith(base) ? FEDERATION.exec(path.slice(base.length)) : null;
  }

  private async answer(request: IncomingMessage, response: ServerResponse, browser: Browser): Promise<void> {
    const [, id = "", isBack] = this.partsOf(request.url ?? "") ?? [];
    if (request.method !== "GET")
      sendError(response, 405, "method_not_allowed", "A browser opens this address: use GET.");
    else await (isBack === undefined ? this.begin(request, response, id) : this.end(request, response, browser));
  }

  private async begin({ url = "" }: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const query = new URL(url, "http://localhost").searchParams;
    const begun = await this.options.federation.begin(id, {
      returnTo: query.get("return_to") ?? "",
      again: query.get("again") === "yes",
    });
    if ("reason" in begun) return this.refuse(response, begun);
    redirect(response, begun.url, [begun.setCookie]);
  }

  private async end({ url = "" }: IncomingMessage, response: ServerResponse, browser: Browser): Promise<void> {
    const { federation, signIn } = this.options;
    const done = await federation.finish(url, browser.cookies);
    if ("reason" in done) return this.refuse(response, done);
    // Without having been asked again, nobody has signed in anew for a page that wants that.
    const { setCookies } = await signIn.fromOutside(browser, done.user, done.again ? done.returnTo : undefined);
    redirect(response, done.returnTo, [done.setCookie, ...setCookies]);
  }

  private refuse(response: ServerResponse, { problem, returnTo, setCookie }: RefusedSignIn): void {
    response.setHeader("set-cookie", setCookie);
    sendPage(response, this.options.site, notSignedInPage(problem, returnTo));
  }
}

function redirect(response: ServerResponse, location: string, setCookies: readonly string[]): void {
  response.writeHead(303, { location, "cache-control": "no-store", "set-cookie": [...setCookies] }).end();
}

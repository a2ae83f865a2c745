import type { KoaContextWithOIDC } from "oidc-provider";
import { OAUTH } from "./paths.js";
import type { Resources } from "./resources.js";

/** What is done before and after the library answers. */
export type Middleware = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;

/**
 * Asks for the scopes of the resource where a client asks for none: the library
 * then gives nothing, and clients that read no `scopes_supported` leave them out.
 */
export function scopesOfResource(resources: Resources): Middleware {
  return async (ctx, next) => {
    if (ctx.method === "GET" && ctx.path === `${OAUTH}/authorize`) {
      const query = ctx.query as Record<string, string | string[] | undefined>;
      const named = [query.resource ?? []].flat().flatMap((url) => resources.of(url) ?? []);
      const offered = new Set(["openid", "offline_access", ...named.flatMap(({ scopes }) => scopes)]);
      const asked = String(query.scope ?? "")
        .split(" ")
        .filter((scope) => offered.has(scope));
      const wanted = asked.some((scope) => named.some(({ scopes }) => scopes.includes(scope)))
        ? asked
        : [...asked, ...named.flatMap(({ scopes }) => scopes)];
      // The library takes its mount path from the difference of the two, and loses it where only one changes.
      const request = ctx.req as { originalUrl?: string; url?: string };
      const mount = request.originalUrl?.slice(0, request.originalUrl.length - (request.url ?? "").length);
      ctx.query = { ...query, scope: [...new Set(wanted)].join(" ") } as typeof ctx.query;
      if (mount !== undefined) request.originalUrl = `${mount}${request.url}`;
    }
    await next();
  };
}

/**
 * Ends the library's own browser session when an authorization ends: it would
 * outlive a sign-out, and the next authorization would be made for whoever was
 * there before.
 */
export const forgetBrowser: Middleware = async (ctx, next) => {
  await next();
  const location = ctx.response.get("location");
  const isOver = ctx.path.startsWith(`${OAUTH}/authorize`) && /[?&#](?:code|error)=/.test(location);
  if (isOver) await (ctx.oidc?.session as { destroy?(): Promise<void> } | undefined)?.destroy?.();
};

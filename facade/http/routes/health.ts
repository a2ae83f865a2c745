import { jsonPage, type Route } from "../route.js";

/**
 * GET /healthz (the process lives) and GET /readyz (it can serve; 503 with the
 * reasons where not), without a token.
 */
export function healthRoutes(ready: () => Promise<readonly string[]>): Route[] {
  return [
    { path: "/healthz", methods: ["GET", "HEAD"], handle: () => jsonPage(200, { status: "ok" }) },
    {
      path: "/readyz",
      methods: ["GET", "HEAD"],

      async handle() {
        const reasons = await ready();
        return reasons.length === 0
          ? jsonPage(200, { status: "ready" })
          : jsonPage(503, { status: "not_ready", reasons });
      },
    },
  ];
}

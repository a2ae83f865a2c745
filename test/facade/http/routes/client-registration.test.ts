import { registerClient } from "@modelcontextprotocol/sdk/client/auth.js";
import { expect, test } from "vitest";
import { NO_SIGN_IN } from "../../../../facade/http/routes/client-registration.js";
import { start } from "../../support/start.js";

test("who turns to signing in is told to send a key, in words that clients show", async () => {
  const server = await start();
  try {
    const clientMetadata = { redirect_uris: ["http://127.0.0.1:1/callback"] };
    const reply = await fetch(`${server.url}/register`, { method: "POST", body: JSON.stringify(clientMetadata) });
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { error: "invalid_client_metadata", error_description: NO_SIGN_IN },
    ]);
    const metadata = { registration_endpoint: `${server.url}/register` };
    const registering = registerClient(server.url, { metadata: metadata as never, clientMetadata });
    await expect(registering).rejects.toMatchObject({ message: NO_SIGN_IN });
  } finally {
    await server.close();
  }
});

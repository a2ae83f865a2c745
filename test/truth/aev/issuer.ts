import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, request as send } from "node:http";

/** Stands at the address that the platform trusts: publishes a key of the tests beside the product's, and hands the rest on. */
export interface Issuer {
  /** A token for the person with an e-mail address, for an audience. */
  token(email: string, audience: string): string;
  stop(): Promise<void>;
}

interface KeySet {
  readonly keys: readonly object[];
}

/**
 * Starts it.
 *
 * @param url the address that the platform is configured with; free on this machine.
 * @param port where the product listens.
 */
export async function startIssuer(url: string, port: number): Promise<Issuer> {
  const kid = `truth-${randomUUID()}`;
  const pair = generateKeyPairSync("ed25519");
  const own = { ...pair.publicKey.export({ format: "jwk" }), use: "sig", alg: "EdDSA", kid };
  const key: KeyObject = createPrivateKey(pair.privateKey.export({ format: "pem", type: "pkcs8" }));

  const server = createServer((request, response) => {
    if (request.url === "/xtm/auth/jwks") {
      void productKeys(port).then((keys) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ keys: [own, ...keys] }));
      });
      return;
    }
    const { method, headers, url: path } = request;
    const onward = send({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(Number(new URL(url).port), "127.0.0.1");
  await once(server, "listening");

  return {
    token(email, aud) {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: url, aud, sub: email, email, iat: now, exp: now + 120, jti: randomUUID() };
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const text = `${part({ alg: "EdDSA", typ: "JWT", kid })}.${part(claims)}`;
      return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The keys that the product publishes; none before it has started. */
async function productKeys(port: number): Promise<readonly object[]> {
  const reply = await fetch(`http://127.0.0.1:${port}/xtm/auth/jwks`).catch(() => undefined);
  return reply === undefined ? [] : ((await reply.json()) as KeySet).keys;
}

import type { Socket } from "node:net";
import { Client } from "undici";

/** The corporate proxy did not open the way. */
export class ProxyError extends Error {}

/**
 * Opens a connection through an HTTP proxy (RFC 9110, CONNECT). The proxy's own address is the deployment's word, and
 * is not checked.
 *
 * @param proxy its URL; a user name and a password in it are sent as Basic credentials.
 * @param target the host as a URL has it: an IPv6 address in brackets.
 * @throws ProxyError where the proxy refuses.
 */
export async function openTunnel(
  proxy: URL,
  target: { readonly host: string; readonly port: number },
  timeoutMs: number,
): Promise<Socket> {
  // Connections to a proxy become those to targets, so none is kept.
  const client = new Client(proxy.origin, { connect: { timeout: timeoutMs }, headersTimeout: timeoutMs });
  const path = `${target.host}:${target.port}`;
  try {
    const { statusCode, socket } = await client.connect({ path, headers: { host: path, ...credentialsOf(proxy) } });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    // A proxy that goes on talking is not listened to.
    socket.on("error", () => undefined).destroy();
    throw new ProxyError(`the proxy ${proxy.host} answered ${statusCode} to CONNECT ${path}`);
  } catch (error) {
    await client.destroy();
    if (error instanceof ProxyError) throw error;
    throw new ProxyError(`the proxy ${proxy.host} did not open a connection to ${path}`, { cause: error });
  }
}

function credentialsOf({ username, password }: URL): { readonly "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { OTHERS } from "./machine.js";

/** What companies have: names, an authority that signs certificates, and a receiver of syslog. */

const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });

/**
 * Makes an authority, `ca.pem`, and one certificate of it for all names, `all.pem` and `all.key`, in a folder.
 *
 * @param kept a folder with the `ca.pem` and `ca.key` of an authority that is there already, which others trust.
 */
export function signCertificates(folder: string, kept: string | undefined): void {
  const [authority, all] = [join(folder, "ca"), join(folder, "all")];
  const request = ["req", "-newkey", "rsa:2048", "-nodes"];
  const uses = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"];
  const self = ["-x509", "-days", "2", "-subj", "/CN=Example CA", ...uses];
  if (kept === undefined) openssl(...request, ...self, "-keyout", `${authority}.key`, "-out", `${authority}.pem`);
  else for (const file of ["ca.pem", "ca.key"]) copyFileSync(join(kept, file), join(folder, file));
  openssl(...request, "-subj", "/CN=example.com", "-keyout", `${all}.key`, "-out", `${all}.csr`);
  writeFileSync(`${all}.ext`, "subjectAltName=DNS:*.example.com\n");
  const by = ["-CA", `${authority}.pem`, "-CAkey", `${authority}.key`, "-CAcreateserial", "-days", "2"];
  openssl("x509", "-req", "-in", `${all}.csr`, ...by, "-extfile", `${all}.ext`, "-out", `${all}.pem`);
}

/** Something that runs beside the machine. */
export interface Other {
  close(): void;
}

/** TLS in front of servers of loopback, on one port: which one, by the name that a client asks for. */
export async function openTls(folder: string, ports: Readonly<Record<string, number>>): Promise<Other> {
  const keys = { cert: readFileSync(join(folder, "all.pem")), key: readFileSync(join(folder, "all.key")) };
  const server = createServer(keys, (from) => {
    const port = ports[String(from.servername)];
    if (port === undefined) return void from.destroy();
    const onward = connect(port, "127.0.0.1");
    from.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.on("error", () => from.destroy()).on("close", () => from.destroy());
    from.pipe(onward).pipe(from);
  });
  server.listen(443, OTHERS);
  await once(server, "listening");
  return { close: () => void server.close() };
}

/** rsyslog as a receiver over TLS, at port 6514. */
export interface Receiver extends Other {
  /** The numbers of the records that it has, in their order. */
  numbers(): number[];
}

/** Starts one. */
export function startReceiver(folder: string): Receiver {
  const [configuration, received] = [join(folder, "rsyslog.conf"), join(folder, "received.log")];
  const lines = [
    `global(workDirectory="${folder}" DefaultNetstreamDriver="ossl" DefaultNetstreamDriverCAFile="${folder}/ca.pem"`,
    `  DefaultNetstreamDriverCertFile="${folder}/all.pem" DefaultNetstreamDriverKeyFile="${folder}/all.key")`,
    'module(load="imtcp" StreamDriver.Name="ossl" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")',
    `input(type="imtcp" port="6514" address="${OTHERS}")`,
    'template(name="message" type="string" string="%msg%\\n")',
    `action(type="omfile" file="${received}" template="message")`,
  ];
  writeFileSync(configuration, `${lines.join("\n")}\n`);
  const child = spawn("rsyslogd", ["-n", "-f", configuration, "-i", join(folder, "rsyslog.pid")], { stdio: "inherit" });
  return {
    numbers: () =>
      (existsSync(received) ? readFileSync(received, "utf8") : "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => (JSON.parse(line) as { number: number }).number),
    close: () => void child.kill("SIGKILL"),
  };
}

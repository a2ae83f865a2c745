// npm run test:administrator: an administrator who knows only docs/install.md goes from an empty Debian 13 to a service with
// TLS, a platform, sign-in at Keycloak, audit at rsyslog and a restored backup. What it installs is the last commit. About
// eight minutes; needs root, debootstrap, systemd-container, iptables, rsyslog-openssl, Java 17, Maven and unzip.
//
// GRC_REAL_URL=http://127.0.0.1:8000 GRC_REAL_LOGIN=EMAIL:PASSWORD has a real CISO Assistant, whose ALLOWED_HOSTS have
// grc.example.com; it must find https://sallyport.example.com at 10.77.0.2, and trust the authority whose ca.pem and ca.key
// are in the folder AUTHORITY. Otherwise a built-in platform stands in.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MACHINE, OTHERS } from "./machine.js";
import { signCertificates } from "./others.js";

const ROOT = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "administrator-"));
try {
  execFileSync("git", ["clone", "-q", "--bare", ROOT, join(folder, "repository")]);
  signCertificates(folder, process.env.AUTHORITY);
  const others = ["login", "siem", "grc"].map((name) => `${OTHERS} ${name}.example.com\n`).join("");
  writeFileSync(join(folder, "hosts-of-machine"), `127.0.0.1 sallyport.example.com\n${others}`);
  const own = readFileSync("/etc/hosts", "utf8");
  writeFileSync(join(folder, "hosts"), `${own}\n${MACHINE} sallyport.example.com\n${others}`);
  // The names are known, and the authority is trusted, in this walk alone.
  const { status } = spawnSync(
    "unshare",
    [
      ...["--mount", "sh", "-ec", 'mount --bind "$0/hosts" /etc/hosts; exec "$@"', folder],
      ...[process.execPath, ...process.execArgv, join(import.meta.dirname, "walk.ts"), folder],
    ],
    { cwd: ROOT, stdio: "inherit", env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") } },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

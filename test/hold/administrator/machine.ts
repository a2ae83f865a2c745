import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** The address of the machine, and that of everybody else. */
export const [MACHINE, OTHERS] = ["10.77.0.2", "10.77.0.1"];
const NAME = "path";
const HERE = `ve-${NAME}`;
const BOOT_MS = 60_000;
const NETWORK = ["-s", "10.77.0.0/24", "!", "-d", "10.77.0.0/24", "-j", "MASQUERADE"];
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A Debian with systemd and nothing else, as a container with a network of its own. */
export interface Machine {
  /** Its file system, from outside. */
  readonly root: string;
  /** Runs commands as root; their output. @throws Error with the output if one fails. */
  run(commands: string, folder?: string): Promise<string>;
  stop(): Promise<void>;
}

const system = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: "utf8" });

/** Installs one in a new folder, and boots it. Needs root, debootstrap, systemd-nspawn and iptables. */
export async function bootMachine(folder: string, hosts: string): Promise<Machine> {
  const root = join(folder, "machine");
  const packages = "systemd,systemd-sysv,dbus,ca-certificates,iproute2";
  system("debootstrap", "--variant=minbase", `--include=${packages}`, "trixie", root);
  // What this machine trusts, if it stands behind a proxy that signs; its clock may be anything.
  const trusted = "/usr/local/share/ca-certificates";
  if (existsSync(trusted)) cpSync(trusted, join(root, trusted), { recursive: true });
  writeFileSync(join(root, "etc/apt/apt.conf.d/00clock"), 'Acquire::Check-Date "false";\n');
  system("chroot", root, "update-ca-certificates");
  writeFileSync(join(root, "etc/hosts"), `127.0.0.1 localhost\n${hosts}`);
  const child = spawn(
    "systemd-nspawn",
    [
      ...["-b", "-D", root, `--machine=${NAME}`, "--register=no", "--keep-unit", "--network-veth"],
      ...["--resolv-conf=copy-host", `--bind-ro=${join(folder, "repository")}:/srv/repository`],
    ],
    { env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  try {
    const leader = await leaderOf(child, () => said);
    const inside = ["-t", leader, "-m", "-u", "-i", "-p", "-n", "-C", "env", "-i", "HOME=/root", `PATH=${PATH}`];
    // Not synchronous: servers of this process answer the commands.
    async function run(commands: string, directory = "/root"): Promise<string> {
      const script = `exec 2>&1; cd ${directory}; set -e\n${commands}`;
      const args = [...inside, "DEBIAN_FRONTEND=noninteractive", "bash", "-lc", script];
      return (await promisify(execFile)("nsenter", args, { maxBuffer: 64 * 1024 * 1024 })).stdout;
    }
    connect(leader);
    await untilUp(run);
    return { root, run, stop: () => stop(child, leader) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** The process of its init. */
async function leaderOf({ pid, exitCode }: ChildProcess, said: () => string): Promise<string> {
  for (const until = Date.now() + BOOT_MS; Date.now() < until && exitCode === null; await sleep(200)) {
    const [first = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (first !== "" && said().includes("Welcome to")) return first;
  }
  throw new Error(`the machine did not boot:\n${said()}`);
}

/** Its network leads through this machine to what this machine reaches. */
function connect(leader: string): void {
  system("ip", "address", "add", `${OTHERS}/24`, "dev", HERE);
  system("ip", "link", "set", HERE, "up");
  const inside = `ip address add ${MACHINE}/24 dev host0; ip link set host0 up; ip route add default via ${OTHERS}`;
  system("nsenter", "-t", leader, "-n", "sh", "-ec", inside);
  system("sysctl", "-qw", "net.ipv4.ip_forward=1");
  system("iptables-legacy", "-t", "nat", "-A", "POSTROUTING", ...NETWORK);
}

async function untilUp(run: Machine["run"]): Promise<void> {
  const until = Date.now() + BOOT_MS;
  while ((await run("systemctl is-system-running || true")).trim() !== "running") {
    if (Date.now() > until) throw new Error(await run("systemctl --failed --no-pager"));
    await sleep(500);
  }
}

/** Ends its init, and with it everything that runs there. */
async function stop(child: ChildProcess, leader?: string): Promise<void> {
  const ended = new Promise((done) => child.once("exit", done));
  if (leader !== undefined) process.kill(Number(leader), "SIGKILL");
  else child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await ended;
  try {
    system("iptables-legacy", "-t", "nat", "-D", "POSTROUTING", ...NETWORK);
  } catch {
    // It was not connected.
  }
}

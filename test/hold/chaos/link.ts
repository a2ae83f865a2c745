import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * A TCP connection's way that can be cut: while it is cut, nothing passes and
 * nobody is told, as when a cable or a firewall's memory is gone.
 */
export class Link {
  private isCut = false;
  private readonly sockets = new Set<Socket>();
  private readonly waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly to: number,
  ) {}

  /** Opens a port of its own that leads to a port of this machine. */
  static async open(to: number): Promise<Link> {
    const server = createServer({ allowHalfOpen: true });
    const link = new Link(server, to);
    server.on("connection", (from) => link.carry(from)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on nothing passes, also of new connections, and no end. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Forgets the connections that there are, as a firewall does: nothing passes on them and nobody is told. New ones pass. */
  forget(): void {
    for (const socket of this.sockets) {
      socket.removeAllListeners("data");
      socket.removeAllListeners("end");
      socket.pause();
    }
  }

  /** Lets everything pass again; or resets what there was, as a firewall does that knows nothing of it any more. */
  mend(resets: boolean): void {
    this.isCut = false;
    for (const socket of [...this.sockets]) {
      if (resets) socket.resetAndDestroy();
      else socket.resume();
    }
    for (const go of this.waiting.splice(0)) go();
  }

  async close(): Promise<void> {
    this.mend(true);
    this.server.close();
  }

  private carry(from: Socket): void {
    this.hold(from);
    const dial = (): void => {
      if (from.destroyed) return;
      const onward = connect({ port: this.to, host: "127.0.0.1", allowHalfOpen: true });
      this.hold(onward);
      this.join(from, onward);
      this.join(onward, from);
    };
    if (this.isCut) {
      from.pause();
      this.waiting.push(dial);
    } else dial();
  }

  private hold(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay();
    socket.on("error", () => undefined);
    socket.on("close", () => this.sockets.delete(socket));
  }

  /** What comes from one goes to the other, its end too. */
  private join(from: Socket, to: Socket): void {
    from.on("data", (chunk) => {
      if (to.write(chunk)) return;
      from.pause();
      to.once("drain", () => {
        if (!this.isCut) from.resume();
      });
    });
    from.on("end", () => to.end());
    from.on("close", () => {
      // An end that came while it was cut is heard when it is mended.
      if (this.isCut) this.waiting.push(() => to.destroy());
      else to.destroy();
    });
  }
}

import { Code, ConnectError } from "@connectrpc/connect";

/** Something wrong with an argument, and where: the path grows as the error passes outwards. */
export class ArgumentError extends Error {
  private path = "";

  /** @param quiet the same without what was given, for what may be a secret. */
  constructor(
    message: string,
    private readonly quiet = message,
  ) {
    super(message);
  }

  /** Leaves out what was given. */
  hushed(): this {
    this.message = this.quiet;
    return this;
  }

  /** Puts the name of the field, or the index of the item, in front of where the error is. */
  within(part: string | number): this {
    const own = typeof part === "number" ? `[${part}]` : part;
    this.path = this.path === "" || this.path.startsWith("[") ? own + this.path : `${own}.${this.path}`;
    return this;
  }

  /** The error as the caller reads it. */
  toConnectError(): ConnectError {
    return new ConnectError(this.path === "" ? this.message : `${this.path}: ${this.message}`, Code.InvalidArgument);
  }
}

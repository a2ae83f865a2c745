/** How many slots and bytes there are, and how many of them one holder can have. */
export interface SlotLimits {
  readonly total: number;
  readonly perHolder: number;
  /** Bytes of memory, of all holders together and of one. Without them no bytes are counted for a slot. */
  readonly bytes?: number;
  readonly bytesPerHolder?: number;
  /** From this number of taken slots on they are crowded; without it they never are. */
  readonly crowded?: number;
}

/** Why there is no slot: its holder has its share already, or all slots are taken. */
export type NoSlot = "share" | "full";

/** One taken slot. It counts from take() on, with the bytes that are kept for it. */
export interface Slot {
  /** Takes more bytes; false, and nothing is taken, if there are not as many. */
  grow(bytes: number): boolean;
  /** Gives bytes back, and keeps the slot. */
  shrink(bytes: number): void;
  /** Gives the slot back, with the bytes that it still has. */
  free(bytes: number): void;
}

/** Holders without a slot that are remembered, so that one who comes again and again is not made each time. */
const IDLE_HOLDERS = 1_000;

const NOTHING = { taken: 0, bytes: 0 };

/** Slots and bytes, counted in total and by holder: a key, an address, a platform's caller. */
export class Slots {
  readonly #limits: Required<SlotLimits>;
  readonly #holders = new Map<string, Holder>();
  #taken = 0;
  #bytes = 0;

  constructor({ bytes = 0, bytesPerHolder = bytes, crowded = Number.POSITIVE_INFINITY, ...limits }: SlotLimits) {
    this.#limits = { ...limits, bytes, bytesPerHolder, crowded };
  }

  /** So many slots are taken that it is worth to count them in a second way, too. */
  get isCrowded(): boolean {
    return this.#taken > this.#limits.crowded;
  }

  /**
   * Takes a slot for a holder, with its first bytes.
   *
   * @param most slots that this holder can have, if it is not the same number for all.
   */
  take(name: string, bytes = 0, most = this.#limits.perHolder): Slot | NoSlot {
    const limits = this.#limits;
    const known = this.#holders.get(name);
    const { taken, bytes: kept } = known ?? NOTHING;
    if (taken >= most || kept + bytes > limits.bytesPerHolder) return "share";
    if (this.#taken >= limits.total || this.#bytes + bytes > limits.bytes) return "full";
    const holder = known ?? this.#made(name);
    this.#taken++;
    this.#bytes += bytes;
    holder.taken++;
    holder.bytes += bytes;
    return holder;
  }

  #made(name: string): Holder {
    const holder = new Holder(this, name);
    this.#holders.set(name, holder);
    return holder;
  }

  /** @internal Of a holder. */
  grow(holder: Holder, bytes: number): boolean {
    const limits = this.#limits;
    if (this.#bytes + bytes > limits.bytes || holder.bytes + bytes > limits.bytesPerHolder) return false;
    this.#bytes += bytes;
    holder.bytes += bytes;
    return true;
  }

  /** @internal Of a holder. */
  shrink(holder: Holder, bytes: number): void {
    this.#bytes -= bytes;
    holder.bytes -= bytes;
  }

  /** @internal Of a holder. */
  free(holder: Holder, bytes: number): void {
    this.shrink(holder, bytes);
    this.#taken--;
    holder.taken--;
    if (holder.taken === 0 && this.#holders.size > IDLE_HOLDERS) this.#holders.delete(holder.name);
  }
}

/** What one holder has; it is each of its slots, so that taking one makes nothing. */
class Holder implements Slot {
  taken = 0;
  bytes = 0;

  constructor(
    private readonly slots: Slots,
    readonly name: string,
  ) {}

  grow(bytes: number): boolean {
    return this.slots.grow(this, bytes);
  }

  shrink(bytes: number): void {
    this.slots.shrink(this, bytes);
  }

  free(bytes: number): void {
    this.slots.free(this, bytes);
  }
}

/**
 * A place among the requests in flight: counted once from enter() on, with the
 * bytes that are kept for it.
 */
export interface Place {
  /** Takes so many more bytes; false, and nothing taken, where they are not to be had. */
  grow(bytes: number): boolean;
  /** Gives the place back, and so many bytes. */
  leave(bytes: number): void;
}

/** Why there is no place: its holder has its share already, or nobody gets one. */
export type NoPlace = "share" | "full";

/** How much there is, and how much of it one holder can have. */
export interface PlacesOptions {
  readonly total: number;
  readonly share: number;
  /** Bytes of memory, of all and of one holder. */
  readonly bytes: number;
  readonly shareOfBytes: number;
}

/** Places and bytes in flight, counted in total and for each holder: a key, or an address. */
export class Places {
  private held = 0;
  private kept = 0;
  private readonly holders = new Map<string, Holder>();

  constructor(readonly options: PlacesOptions) {}

  /** How many are taken. */
  get taken(): number {
    return this.held;
  }

  /** Takes a place for a holder. */
  enter(name: string): Holder | NoPlace {
    const { total, share } = this.options;
    let holder = this.holders.get(name);
    if (holder === undefined) {
      if (this.held >= total) return "full";
      holder = new Holder(this, name);
      this.holders.set(name, holder);
    } else if (holder.held >= share) return "share";
    else if (this.held >= total) return "full";
    this.held++;
    holder.held++;
    return holder;
  }

  /** @internal Of a holder. */
  grow(holder: Holder, bytes: number): boolean {
    const { options } = this;
    if (this.kept + bytes > options.bytes || holder.kept + bytes > options.shareOfBytes) return false;
    this.kept += bytes;
    holder.kept += bytes;
    return true;
  }

  /** @internal Of a holder. */
  leave(holder: Holder, bytes: number): void {
    this.held--;
    this.kept -= bytes;
    holder.held--;
    holder.kept -= bytes;
    if (holder.held === 0 && this.holders.size > IDLE_HOLDERS) this.holders.delete(holder.name);
  }
}

/** So many who hold nothing are remembered, so that who comes again and again is not made anew each time. */
const IDLE_HOLDERS = 1_000;

/** What one key or address holds; it is each of its places. */
class Holder implements Place {
  held = 0;
  kept = 0;

  constructor(
    private readonly places: Places,
    readonly name: string,
  ) {}

  grow(bytes: number): boolean {
    return this.places.grow(this, bytes);
  }

  leave(bytes: number): void {
    this.places.leave(this, bytes);
  }
}

/** What stands in one ring, and leaves it by itself. */
export abstract class Member {
  /** @internal */
  next: Member = this;
  /** @internal */
  previous: Member = this;

  /** Leaves the ring that it stands in, if it stands in one. */
  leave(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}

/**
 * The members of a list in the order in which they entered, for members of which many enter and soon leave: a
 * request enters three of them. Each holds its own place, so that nothing is looked up, and the ring allocates nothing.
 */
export class Ring<M extends Member> implements Iterable<M> {
  readonly #head = new Head();

  get isEmpty(): boolean {
    return this.#head.next === this.#head;
  }

  /** The member that has stood here for the longest time. */
  get first(): M | undefined {
    return this.isEmpty ? undefined : (this.#head.next as M);
  }

  /** The member takes the last place. It stands in no ring. */
  enter(member: M): void {
    const { previous } = this.#head;
    member.next = this.#head;
    member.previous = previous;
    previous.next = member;
    this.#head.previous = member;
  }

  /** Those that stood here when it began, without those that left meanwhile. */
  *[Symbol.iterator](): Iterator<M> {
    const members: M[] = [];
    for (let member = this.#head.next; member !== this.#head; member = member.next) members.push(member as M);
    for (const member of members) if (member.next !== member) yield member;
  }
}

class Head extends Member {}

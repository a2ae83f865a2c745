import { useState } from "react";
import { Button } from "./button";

/** The pages of a list that were looked at: the tokens that asked for them. */
export interface Pages {
  readonly token: string;
  readonly isFirst: boolean;
  next(token: string): void;
  back(): void;
  restart(): void;
}

/** The pages of a list, by the tokens of the service. */
export function usePages(): Pages {
  const [tokens, setTokens] = useState<readonly string[]>([""]);
  return {
    token: tokens.at(-1) ?? "",
    isFirst: tokens.length === 1,
    next: (token) => setTokens([...tokens, token]),
    back: () => setTokens(tokens.slice(0, -1)),
    restart: () => setTokens([""]),
  };
}

/** Nothing where one page is all. */
export function Pager({ pages, nextToken }: { pages: Pages; nextToken: string }) {
  if (pages.isFirst && nextToken === "") return null;
  return (
    <div className="actions">
      <Button isDisabled={pages.isFirst} onPress={pages.back}>
        Previous
      </Button>
      <Button isDisabled={nextToken === ""} onPress={() => pages.next(nextToken)}>
        Next
      </Button>
    </div>
  );
}

import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Button } from './Button';
import { ItemList } from './ItemList';
import { actions } from './messages';
import { Spinner } from './Spinner';

type Query<T> = Pick<UseQueryResult<T>, 'data' | 'isError' | 'isFetching' | 'refetch'>;

interface LoadedProps<T> {
  query: Query<T>;
  texts: { loading: string; loadFailed: string };
  children: (data: T) => ReactNode;
}

/** What a query returned. Until then its spinner, or its error with a button that tries again. */
export function Loaded<T>({ query, texts, children }: LoadedProps<T>) {
  const { data, isError, isFetching, refetch } = query;
  if (data !== undefined) return children(data);
  if (!isError) return <Spinner label={texts.loading} />;
  return (
    <>
      <p>{texts.loadFailed}</p>
      <div>
        <Button busy={isFetching} onClick={() => void refetch()}>
          {actions.tryAgain}
        </Button>
      </div>
    </>
  );
}

interface LoadedListProps<T> {
  query: Query<T[]>;
  /** `list` is the accessible name; `none` is the text of an empty list. */
  texts: LoadedProps<T>['texts'] & { list: string; none?: string };
  /** Returns the Item of a thing, with its key. */
  children: (item: T) => ReactNode;
}

/** The things that a query returned, or a text that there are none. */
export function LoadedList<T>({ query, texts, children }: LoadedListProps<T>) {
  return (
    <Loaded query={query} texts={texts}>
      {(items) =>
        items.length === 0 ? (
          texts.none && <p>{texts.none}</p>
        ) : (
          <ItemList label={texts.list}>{items.map((item) => children(item))}</ItemList>
        )
      }
    </Loaded>
  );
}

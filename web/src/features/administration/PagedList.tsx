import type { ReactNode } from 'react';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from '../../components/Button';
import { Loaded } from '../../components/LoadedList';
import { actions } from '../../components/messages';
import type { ListData } from './administrator';
import { lists } from './messages';

interface PagedListProps<T> {
  query: UseInfiniteQueryResult<ListData<T>>;
  /** Text of an empty list. */
  none: string;
  children: (items: T[]) => ReactNode;
}

/** The items of a list that loads page by page. */
export function PagedList<T>({ query, none, children }: PagedListProps<T>) {
  return (
    <Loaded query={query} texts={lists}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        return (
          <>
            {items.length === 0 ? <p>{none}</p> : children(items)}
            {query.hasNextPage && (
              <div>
                <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  {actions.showMore}
                </Button>
              </div>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

import { useEffect, type RefObject } from 'react';

/**
 * The focus is never lost to the body: where the element that has it is taken out of the document,
 * what is nearest around it and stays gets it, and so the next Tab goes on from there.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    /** The element that was focused last, and what stands around it. */
    let path: Element[] = [];
    const isLost = () => document.activeElement === document.body;

    const onFocusIn = (event: FocusEvent) => {
      path = event.composedPath().filter((target) => target instanceof Element);
    };
    // Who clicks on nothing has put the focus down; an element that is gone has lost it.
    const onFocusOut = () => {
      setTimeout(() => {
        if (isLost() && path[0]?.isConnected) path = [];
      });
    };
    const observer = new MutationObserver(() => {
      if (!isLost() || !path[0] || path[0].isConnected) return;
      const stays = path.find((element) => element.isConnected && main.current?.contains(element));
      const place = (stays ?? main.current) as HTMLElement | null;
      path = [];
      if (!place) return;
      if (!place.hasAttribute('tabindex')) {
        place.tabIndex = -1;
        place.dataset['keepsFocus'] = '';
        const onBlur = () => {
          // The window was left; who comes back to it is still here.
          if (document.activeElement === place) return;
          place.removeEventListener('blur', onBlur);
          place.removeAttribute('tabindex');
          delete place.dataset['keepsFocus'];
        };
        place.addEventListener('blur', onBlur);
      }
      place.focus({ preventScroll: true });
    });

    addEventListener('focusin', onFocusIn);
    addEventListener('focusout', onFocusOut);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', onFocusIn);
      removeEventListener('focusout', onFocusOut);
      observer.disconnect();
    };
  }, [main]);
}

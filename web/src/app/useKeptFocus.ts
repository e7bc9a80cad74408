import { useEffect, type RefObject } from 'react';

/**
 * Keeps the focus from falling back to the body.
 *
 * If the focused element is removed from the document, its nearest remaining ancestor gets the
 * focus. The next Tab then continues from there.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    /** The last focused element and its ancestors. */
    let path: Element[] = [];
    const isLost = () => document.activeElement === document.body;

    const onFocusIn = (event: FocusEvent) => {
      path = event.composedPath().filter((target) => target instanceof Element);
    };
    // A click beside all controls gives the focus up. Only a removed element has lost it.
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
          // Only the window lost the focus.
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

import { useLayoutEffect, useRef } from 'react';
import { Steps } from '../../components/Steps';
import { announce } from '../../lib/announce';
import { publicUrl } from '../../lib/config';
import { paths } from '../../lib/paths';
import styles from './Elsewhere.module.css';
import { elsewhere as texts } from './elsewhereMessages';

/** Explains how to shorten links from other pages and apps. */
export function Elsewhere() {
  const address = `${publicUrl()}${paths.share}?url=`;
  return (
    <Steps
      title={texts.title}
      numbered={false}
      steps={[
        { title: texts.bookmarklet, text: texts.bookmarkHint(<Bookmarklet />) },
        {
          title: texts.phone,
          text: (
            <>
              {texts.phoneHint} {texts.iphone(<code className={styles.address}>{address}</code>)}
            </>
          ),
        },
        {
          title: texts.keyword,
          text: texts.keywordHint(
            <code className={styles.address}>{texts.template(address)}</code>,
          ),
        },
      ]}
    />
  );
}

/** A link to drag to the bookmarks. It passes the address in the fragment, which nobody logs. */
function Bookmarklet() {
  const link = useRef<HTMLAnchorElement>(null);
  // React refuses such an href, because it would run on this page. The CSP prevents that.
  useLayoutEffect(() => {
    const target = JSON.stringify(`${publicUrl()}${paths.share}#url=`);
    const script = `open(${target}+encodeURIComponent(location.href))`;
    link.current?.setAttribute('href', `javascript:void ${script}`);
  }, []);
  return (
    <a
      ref={link}
      href={paths.share}
      className={styles.bookmark}
      onClick={(event) => {
        event.preventDefault();
        announce(texts.drag);
      }}
    >
      {texts.bookmark}
    </a>
  );
}

/** Texts of using the shortener from elsewhere. */
import type { ReactNode } from 'react';

export const elsewhere = {
  title: 'From anywhere',
  nothingShared: 'No link was found in what was shared.',
  bookmarklet: 'On a computer',
  bookmark: 'Shorten with Atajo',
  bookmarkHint: (bookmark: ReactNode) => (
    <>Drag {bookmark} to your bookmarks bar. A click on it opens any page’s link here.</>
  ),
  drag: 'Drag this to your bookmarks bar.',
  phone: 'On a phone',
  phoneHint:
    'Install Atajo from the menu of your browser. It then appears where Android shares links.',
  iphone: (address: ReactNode) => (
    <>
      On an iPhone, create a shortcut that accepts URLs from the share sheet, with the actions URL
      Encode and Open URLs. The URL is {address}, followed by the encoded text.
    </>
  ),
  keyword: 'In the address bar',
  template: (address: string) => `${address}%s`,
  keywordHint: (address: ReactNode) => (
    <>
      Add Atajo as a search engine in the settings of your browser, with a keyword. Its URL is{' '}
      {address}
    </>
  ),
};

/** Texts of the campaign tags, which load when the options of the shortener are opened. */
import type { CampaignTag } from './campaign';

export const messages = {
  title: 'Campaign tags',
  hint: 'They are added to the link, so that your web analytics can tell where visitors came from. Tags that the link already has are replaced.',
  tags: {
    source: 'Source',
    medium: 'Medium',
    campaign: 'Campaign',
    term: 'Term',
    content: 'Content',
  } satisfies Record<CampaignTag, string>,
  examples: {
    source: 'newsletter',
    medium: 'email',
    campaign: 'spring-2027',
    term: 'hiking boots',
    content: 'header',
  } satisfies Record<CampaignTag, string>,
  result: 'Destination with tags:',
};

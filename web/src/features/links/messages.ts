/** Text of the specification that the account page owns, to the letter. */
export const loadError = 'Error on loading user data';

/** Said once above the list; in a row stands a dash. */
export const viewsUnknown = 'The views are not known just now.';

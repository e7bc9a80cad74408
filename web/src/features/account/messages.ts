/** Text of the specification that the account page owns, to the letter. */
export const loadError = 'Error on loading user data';

// Lints the description of the REST API: node scripts/lint-api.mjs FILE

import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';

const [file = ''] = process.argv.slice(2);
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // The description is for any host.
    'no-server-example.com': 'off',
    'operation-operationId-unique': 'error',
    'operation-4xx-problem-details-rfc7807': 'error',
    'operation-singular-tag': 'error',
    'tag-description': 'error',
    'no-invalid-media-type-examples': 'error',
    'no-unused-components': 'error',
  },
});
const problems = await lint({ ref: file, config });
formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '' });
process.exitCode = problems.length > 0 ? 1 : 0;

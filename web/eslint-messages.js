/**
 * ESLint rule: text that users read belongs in the messages file of its feature.
 *
 * Reports text in JSX, in attributes and properties that contain text, and in arguments of
 * functions that show or announce text. Files named `messages` or `…Messages` are exempt.
 */

const NAMES =
  /^(alt|aria-(description|label|placeholder|roledescription|valuetext)|description|error|hint|label|placeholder|text|title|what|words)$/;
const SHOWING =
  /^(alert|announce|fail|offerToast|set(Error|Failed|Problem|Said)|showToast|tellDone)$/;
const LETTER = /\p{L}/u;
/** Distinguishes text from a key such as 'contact'. */
const SENTENCE = /^\p{Lu}|\s/u;

/** Returns the nodes of literal text that an expression may evaluate to. */
function textsOf(node) {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' && LETTER.test(node.value) ? [node] : [];
    case 'TemplateLiteral':
      return node.quasis.some(({ value }) => LETTER.test(value.raw)) ? [node] : [];
    case 'JSXExpressionContainer':
      return textsOf(node.expression);
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)];
    case 'LogicalExpression':
    case 'BinaryExpression':
      return node.operator === '+' || node.type === 'LogicalExpression'
        ? [...textsOf(node.left), ...textsOf(node.right)]
        : [];
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return textsOf(node.expression);
    default:
      return [];
  }
}

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { outside: 'Text that users read belongs in the messages file of its feature.' },
  },
  create(context) {
    const check = (node) => {
      for (const text of textsOf(node)) context.report({ node: text, messageId: 'outside' });
    };
    return {
      JSXText(node) {
        if (LETTER.test(node.value)) context.report({ node, messageId: 'outside' });
      },
      ':matches(JSXElement, JSXFragment) > JSXExpressionContainer': check,
      JSXAttribute({ name, value }) {
        if (NAMES.test(name.name)) check(value);
      },
      Property({ key, value }) {
        if (NAMES.test(key.name ?? key.value)) check(value);
      },
      CallExpression({ callee, arguments: given }) {
        if (!SHOWING.test(callee.name)) return;
        for (const argument of given) {
          if (SENTENCE.test(argument.value ?? ' ')) check(argument);
        }
      },
    };
  },
};

export default { rules: { 'in-messages': rule } };

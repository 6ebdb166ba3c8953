// Texts of scripts in the language of the page, whose words come before all modules.
export const _ = (text, values = {}) => (window.words?.[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

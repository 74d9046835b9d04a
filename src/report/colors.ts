/** What paints words: an instance of chalk is one. */
export type Colors = Readonly<
  Record<'bold' | 'cyan' | 'green' | 'red' | 'underline', (text: string) => string>
>;

const plain = (text: string) => text;

export const NO_COLORS: Colors = { bold: plain, cyan: plain, green: plain, red: plain, underline: plain };

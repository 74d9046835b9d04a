/** Comparisons as text: one function a format, each giving chunks of text. What other folders may use. */
export type { Colors } from './colors.ts';
export { type GithubOptions, githubReport } from './github.ts';
export { inventoryJson, inventoryText } from './inventory.ts';
export { type JsonOptions, jsonReport, type SideDescription } from './json.ts';
export type { PlaceOf, ReportPlace } from './places.ts';
export { statReport } from './stat.ts';
export { type TextOptions, textReport } from './text.ts';
export { type UnifiedOptions, unifiedReport } from './unified.ts';
export { upgradeJson, upgradeText } from './upgrade.ts';
export { summaryLine } from './wording.ts';

export interface CommentMatch {
  readonly kind: 'comment';
  readonly text: string;
}

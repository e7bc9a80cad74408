"""The MongoDB backend of the auth stores."""
